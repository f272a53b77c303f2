//! The kernel seam: the only place with unsafe code. Each function wraps one kernel facility and names its source.

pub mod path;
