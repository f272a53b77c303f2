//! What a confined tree can't do, each attempt with a twin that shows that it succeeds unconfined, and what goes on
//! working.
//!
//! Nothing here is skipped because a kernel lacks something: a kernel below the level that `ARGVAULT_EXPECT_LANDLOCK_ABI`
//! names fails, and only a lower number there leaves out what needs more.

#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod ahead;
mod attempt;
mod cost;
mod escapes;
mod execute;
mod files;
mod lost;
mod network;
mod processes;
mod status;
mod work;
