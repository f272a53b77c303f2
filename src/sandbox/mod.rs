//! Path confinement: the working directory is a descriptor from its check to the child's `fchdir(2)`.
//!
//! A path is only a way to ask. The kernel walks it beneath the root's descriptor (`openat2(2)`,
//! `RESOLVE_BENEATH`), so the check and the opening are one step and nothing swapped in between leads outside. What
//! a caller holds afterwards is a proof: a [`ConfinedDir`] or [`ConfinedFile`] exists only for what was beneath the
//! root when it was opened.
//!
//! Not promised: a directory that is moved out of the root *after* it was opened is still the directory that was
//! checked, and the command runs there. Mounts inside the root count as inside. And confinement of the start says
//! nothing about where the program goes by itself.
//!
//! A directory is entered, not read: search permission (`x`) is enough, as it is for `cd`.

mod beneath;
mod dir;
mod error;
mod file;
mod root;

pub use dir::ConfinedDir;
pub use error::SandboxError;
pub use file::{ConfinedFile, FileStopped, open_file_beneath};
pub use root::WorkspaceRoot;

use std::path::Path;

/// A path for a message: whole, in quotes, one line. What is not UTF-8 is replaced.
pub(crate) fn shown(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}
