//! Which file an allowed name stands for, and what is known about it before it is started.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests panic as the tests do")]

mod names;
mod pinned;
mod place;
#[path = "../unprivileged/mod.rs"]
mod unprivileged;
mod unstartable;
