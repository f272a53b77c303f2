//! What runs outside the host, in one small static process per Node process and one per command: single-threaded,
//! without an async runtime, without an environment.

pub mod capture;
pub mod confine;
pub mod containment;
pub mod keeper;
pub mod launch;
pub mod lifecycle;
pub mod lost;
pub mod notes;
pub mod peers;
pub mod protocol;
pub mod settle;
pub mod spare;
pub mod tree;
#[expect(clippy::module_inception, reason = "the room is named after its main process")]
pub mod warden;
