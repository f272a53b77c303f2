//! From what a policy says about confinement to rules that a kernel can hold a tree to, and to what of it this kernel
//! can.
//!
//! Landlock and seccomp only ever take away: what the host process itself may not do, no rule here gives. Nothing in
//! this stage restricts anybody; the keeper's child does that to itself, between its working directory and its exec.

mod capability;
mod confined;
mod error;
mod resolve;
mod rules;
mod shown;
mod system;

pub use capability::{Feature, Kernel};
pub use confined::{Confined, Enforcement};
pub use error::ConfinementError;
pub use resolve::{Ground, Resolved, hold, resolve, warnings};
pub use rules::{Net, Place, Rules};
pub use shown::Shown;
