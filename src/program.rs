//! Executable resolution and pinning.
