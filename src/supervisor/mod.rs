//! The host side of the warden.
