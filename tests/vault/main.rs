//! The vault through a host: several processes, crashes, and what must not be believed.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests panic as the tests do")]

mod crashes;
mod follow;
mod list;
mod place;
mod room;
mod trust;
mod two_processes;
