//! What may start, and what then runs: the whole way through the host, the warden and a real program.

#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod audit;
mod environment;
mod git;
mod git_faults;
mod hooks;
mod programs;
mod queue;
mod race;
mod warden_file;
