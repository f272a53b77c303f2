//! The kernel seam: the only place with unsafe code. Each function wraps one kernel facility, says where its facts
//! come from, and is safe to call; what it can't check by itself it takes as a proof type.

pub mod clock;
pub mod file;
pub mod image;
pub mod inotify;
pub mod landlock;
pub mod memory;
pub mod path;
pub mod probe;
pub mod process;
pub mod random;
pub mod signal;
pub mod socket;
pub mod spawn;
