//! The vault.

pub mod text;
