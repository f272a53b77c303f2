//! Why a program that the policy names was refused. What merely can't be started is no refusal but an
//! [`super::Unstartable`].

use std::fmt::Write as _;
use std::path::PathBuf;

use nix::errno::Errno;
use serde_json::{Value, json};

use crate::input::quoted;
use crate::sandbox::shown;

/// A refusal of the program; each variant names its code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// `ERR_EXECUTABLE_CHANGED`: the file's digest is not the pinned one.
    #[error(
        "The file {} is not the pinned one: its sha256 is {}, the policy says {}.",
        shown(path),
        hex(actual),
        hex(expected)
    )]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// The policy's digest.
        expected: [u8; 32],
        /// The file's.
        actual: [u8; 32],
    },
    /// `ERR_EXECUTABLE_CHANGED`: the file can't be read, so nothing shows that it is the pinned one.
    #[error(
        "The file {} can't be read, so it can't be compared with its pinned sha256: {reason}.",
        shown(path)
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// `ERR_EXECUTABLE_CHANGED`: between the check and the start the path came to name another file, or none, or
    /// the file was written to.
    #[error("The file {} is not the one that was checked: {what}.", shown(path))]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// `ERR_EXECUTABLE_NOT_ALLOWED`: a relative entry leads outside the root.
    #[error(
        "Executable {} is not allowed here: it leads to {}, which is outside the permitted root {}.",
        quoted(name),
        shown(resolved),
        shown(root)
    )]
    OutsideRoot {
        /// The entry.
        name: String,
        /// Where it leads.
        resolved: PathBuf,
        /// The root's real path.
        root: PathBuf,
    },
    /// `ERR_RESOURCES`: descriptors or memory ran out.
    #[error("Executable {} can't be looked at: {reason}.", quoted(name))]
    Resources {
        /// The entry.
        name: String,
        /// The system's words.
        reason: String,
    },
    /// `ERR_PLATFORM`: the system lacks what every start needs.
    #[error("Executable {} can't be looked at: {needs} is not available here ({reason}).", quoted(name))]
    Platform {
        /// The entry.
        name: String,
        /// The call or file system.
        needs: String,
        /// The system's words.
        reason: String,
    },
    /// `ERR_INTERNAL`: the policy's table has no such entry.
    #[error("The table of programs has no entry {index}.")]
    NoSuchEntry {
        /// What was asked for.
        index: usize,
    },
}

impl ProgramError {
    /// What is no fault of the file.
    pub(super) fn of_system(name: &str, errno: Errno) -> Option<Self> {
        let (name, reason) = (name.to_owned(), errno.desc().to_owned());
        match errno {
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => Some(Self::Resources { name, reason }),
            // A seccomp filter answers a call it doesn't know with EPERM.
            Errno::ENOSYS | Errno::EPERM => {
                Some(Self::Platform { name, needs: "openat2 or faccessat2".into(), reason })
            }
            _ => None,
        }
    }

    /// What to do about it, as a sentence.
    pub fn recovery(&self) -> String {
        match self {
            Self::WrongDigest { .. } => {
                "If the new file is the one that is meant, set a policy with its sha256; else put the pinned file back."
                    .into()
            }
            Self::Unreadable { .. } => {
                "Give this user read permission on it, or list the path without sha256.".into()
            }
            Self::Replaced { .. } => "Start the command again to have the file that is there now checked.".into(),
            Self::OutsideRoot { root, .. } => format!(
                "List the executable by its absolute path in allowedExecutables, or keep it inside {}.",
                shown(root)
            ),
            Self::Resources { .. } => {
                "Wait until running commands have settled, or raise the limit of open files.".into()
            }
            Self::Platform { .. } => {
                "Run on Linux 5.9 or later, with /proc mounted and a seccomp filter that lets openat2 and \
                faccessat2 pass."
                    .into()
            }
            Self::NoSuchEntry { .. } => "This is a fault in argvault: please report it.".into(),
        }
    }

    /// What the message is about, by name.
    pub fn details(&self) -> Value {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        match self {
            Self::WrongDigest { path, expected, actual } => {
                json!({ "path": text(path), "expected": hex(expected), "actual": hex(actual) })
            }
            Self::Unreadable { path, reason } => json!({ "path": text(path), "reason": reason }),
            Self::Replaced { path, what } => json!({ "path": text(path), "reason": what }),
            Self::OutsideRoot { name, resolved, root } => {
                json!({ "executable": name, "resolved": text(resolved), "root": text(root) })
            }
            Self::Resources { name, reason } => json!({ "executable": name, "reason": reason }),
            Self::Platform { name, needs, reason } => {
                json!({ "executable": name, "needs": needs, "reason": reason })
            }
            Self::NoSuchEntry { index } => json!({ "index": index }),
        }
    }
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
