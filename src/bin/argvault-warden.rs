//! The warden's entry point.

fn main() {}
