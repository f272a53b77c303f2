//! The vault.
