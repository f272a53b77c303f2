//! Where a command may run: path confinement, as a table, under a race and as a property.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests panic as the tests do")]

mod property;
mod race;
mod table;
mod tree;
#[path = "../unprivileged/mod.rs"]
mod unprivileged;
