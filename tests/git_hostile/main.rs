//! A hostile repository and hostile values turn no tool.
//!
//! Promised: whatever the repository holds, no planted program runs, nothing of the repository or around it is
//! written, nothing from outside is told, nothing steers a terminal, and every call ends. Not promised here: what
//! happens when the git directory is changed during a call; times of files.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a helper of tests fails like one, and tells")]

#[path = "../git_support/mod.rs"]
mod git_support;

mod executes;
mod hangs;
mod harness;
mod misleads;
mod reads;
mod values;
mod writes;
