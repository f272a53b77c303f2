//! Settled means over, under every death, race and shortage that one machine can produce.
//!
//! Promised, and asserted here: when a command is reported settled, nothing that carries its token is alive, its
//! bytes are in its files and its outcome is recorded. Not promised, and not asserted: how many signals it took.
//! Each fixture whose end is shown has a twin in `twins`, which shows that it outlives a plain kill of its root.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as the tests do")]

mod faults;
mod fixtures;
mod growth;
mod host_death;
mod hosted;
mod limits;
mod missing;
mod outcomes;
mod races;
mod raw;
mod rig;
mod shortages;
mod strays;
mod trees;
mod twins;
mod unkillable;
