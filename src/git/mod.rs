//! Read-only git for a model: values become hardened command lines.
//!
//! The model gives values, never flags, and the repository may be hostile in its content, its configuration and its
//! layout. So the layout is looked over first (`preflight`, `tree_check`), git then reads a private directory
//! that stands for the repository's (`shadow`), every revision is resolved to an object id before it is used
//! (`revision`, `resolve`), paths stay inside (`path`), argv and environment are fixed for each tool
//! (`invocation`, `tool`), and what comes out is escaped as it passes (`render`).
//!
//! This stage starts no process. A [`Session`] hands out [`Invocation`]s, and the host runs them as it runs any
//! command. What is not promised: that objects are what their ids say (git doesn't hash on reading), and that an
//! attacker who changes the git directory *during* a call sees nothing of it; the kernel's confinement is for that.

mod config;
mod error;
mod executable;
mod files;
mod invocation;
mod options;
mod path;
mod preflight;
mod render;
mod request;
mod resolve;
mod revision;
mod session;
mod shadow;
mod since;
mod tool;
mod toolbox;
mod tree_check;

pub use error::GitError;
pub use invocation::{Invocation, Purpose};
pub use options::{Extra, GitOptions};
pub use render::{Shown, preview_of};
pub use request::{EXTRA_TOOLS, GitRequest, TOOLS};
pub use session::{Answer, Completed, Ending, Session, Step};
pub use toolbox::Toolbox;
