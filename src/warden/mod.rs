//! What runs outside the host.
