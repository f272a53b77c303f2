//! Why a root or a working directory was refused.

use std::path::PathBuf;

use nix::errno::Errno;
use serde_json::{Value, json};

use super::shown;
use crate::input::quoted;

/// A refusal of the place. Paths stand as given and as resolved; each variant names its code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// `ERR_ROOT_NOT_FOUND`: the root is relative.
    #[error("cwdRoot {} is not an absolute path.", quoted(given))]
    RootNotAbsolute {
        /// As the policy names it.
        given: String,
    },
    /// `ERR_ROOT_NOT_FOUND`: nothing is there.
    #[error("cwdRoot {} does not exist (resolved: {}).", quoted(given), shown(resolved))]
    RootMissing {
        /// As the policy names it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_ROOT_NOT_FOUND`: it, or a part of its path, is no directory.
    #[error("cwdRoot {} is not a directory (resolved: {}).", quoted(given), shown(resolved))]
    RootNotADirectory {
        /// As the policy names it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_ROOT_NOT_FOUND`: it can't be entered.
    #[error("This user may not enter cwdRoot {} (resolved: {}).", quoted(given), shown(resolved))]
    RootPermission {
        /// As the policy names it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_ROOT_NOT_FOUND`: anything else.
    #[error("cwdRoot {} can't be opened: {reason}.", quoted(given))]
    RootUnusable {
        /// As the policy names it.
        given: String,
        /// The system's words.
        reason: String,
    },
    /// `ERR_CWD_OUTSIDE_ROOT`: it leads outside, whether or not anything is there.
    #[error(
        "cwd {} is outside the permitted root: it leads to {}, the root is {}.",
        quoted(given),
        shown(resolved),
        shown(root)
    )]
    CwdOutsideRoot {
        /// As the caller named it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
        /// The root's real path.
        root: PathBuf,
    },
    /// `ERR_CWD_OUTSIDE_ROOT`: it changed under every look, so it can't be shown to lie inside.
    #[error(
        "cwd {} kept changing while it was checked, so it counts as outside the permitted root \
        (last resolved: {}).",
        quoted(given),
        shown(resolved)
    )]
    CwdUnsteady {
        /// As the caller named it.
        given: String,
        /// Where it led last.
        resolved: PathBuf,
    },
    /// `ERR_CWD_NOT_FOUND`: nothing is there.
    #[error("cwd {} is not an existing directory: {} does not exist.", quoted(given), shown(resolved))]
    CwdMissing {
        /// As the caller named it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_CWD_NOT_A_DIRECTORY`: a file, or something else that can't be entered.
    #[error(
        "cwd {} is not an existing directory: {} is a file or leads through one.",
        quoted(given),
        shown(resolved)
    )]
    CwdNotADirectory {
        /// As the caller named it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_CWD_PERMISSION`: it, or a directory on the way, can't be entered.
    #[error("This user may not enter cwd {} (resolved: {}).", quoted(given), shown(resolved))]
    CwdPermission {
        /// As the caller named it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// `ERR_BAD_OPTION`: a path can't hold NUL.
    #[error("cwd {} holds a NUL character.", quoted(given))]
    CwdNul {
        /// As the caller named it.
        given: String,
    },
    /// `ERR_CWD_NOT_FOUND`: anything else, such as a loop of links or a name that is too long.
    #[error("cwd {} can't be opened (resolved: {}): {reason}.", quoted(given), shown(resolved))]
    CwdUnusable {
        /// As the caller named it.
        given: String,
        /// Where it leads.
        resolved: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// `ERR_RESOURCES`: descriptors or memory ran out.
    #[error("The working directory can't be opened: {reason}.")]
    Resources {
        /// The system's words.
        reason: String,
    },
    /// `ERR_PLATFORM`: the system lacks what every start needs.
    #[error("The working directory can't be checked: {needs} is not available here ({reason}).")]
    Platform {
        /// The call or file system.
        needs: String,
        /// The system's words.
        reason: String,
    },
}

impl SandboxError {
    /// What is no fault of the path. `EPERM` is how a seccomp filter answers a call it doesn't know; the calls made
    /// here have no other use for it.
    pub(super) fn of_system(errno: Errno) -> Option<Self> {
        let reason = errno.desc().to_owned();
        match errno {
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => Some(Self::Resources { reason }),
            Errno::ENOSYS | Errno::EPERM => {
                Some(Self::Platform { needs: "openat2 or faccessat2".into(), reason })
            }
            _ => None,
        }
    }

    pub(super) fn no_proc(errno: Errno) -> Self {
        let reason = errno.desc().to_owned();
        match errno {
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => Self::Resources { reason },
            _ => Self::Platform { needs: "/proc".into(), reason },
        }
    }

    /// What to do about it, as a sentence.
    pub fn recovery(&self) -> String {
        match self {
            Self::RootNotAbsolute { .. } => {
                "Give cwdRoot as an absolute path, for example path.resolve(\".\").".into()
            }
            Self::RootMissing { .. } | Self::RootNotADirectory { .. } | Self::RootUnusable { .. } => {
                "Set a policy whose cwdRoot is an existing directory.".into()
            }
            Self::RootPermission { resolved, .. } => format!(
                "Give this user search permission (x) on {} and the directories above it, or set a policy with \
                another cwdRoot.",
                shown(resolved)
            ),
            Self::CwdOutsideRoot { root, .. } => {
                format!("Use a directory inside {}, relative to it or absolute.", shown(root))
            }
            Self::CwdUnsteady { .. } => {
                "Try again when nothing renames directories or links on this path.".into()
            }
            Self::CwdMissing { .. } => "Create it first, or use a directory that exists.".into(),
            Self::CwdNotADirectory { .. } => "Use the directory that holds it.".into(),
            Self::CwdPermission { .. } => {
                "Use another directory, or give this user search permission (x) on it and on those above it."
                    .into()
            }
            Self::CwdNul { .. } => "Remove the NUL character.".into(),
            Self::CwdUnusable { .. } => "Use another directory.".into(),
            Self::Resources { .. } => {
                "Wait until running commands have settled, or raise the limit of open files.".into()
            }
            Self::Platform { .. } => {
                "Run on Linux 5.9 or later, with /proc mounted and a seccomp filter that lets openat2 and \
                faccessat2 pass."
                    .into()
            }
        }
    }

    /// What the message is about, by name.
    pub fn details(&self) -> Value {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        match self {
            Self::RootNotAbsolute { given } => json!({ "cwdRoot": given }),
            Self::RootUnusable { given, reason } => json!({ "cwdRoot": given, "reason": reason }),
            Self::RootMissing { given, resolved }
            | Self::RootNotADirectory { given, resolved }
            | Self::RootPermission { given, resolved } => {
                json!({ "cwdRoot": given, "resolved": text(resolved) })
            }
            Self::CwdOutsideRoot { given, resolved, root } => {
                json!({ "cwd": given, "resolved": text(resolved), "root": text(root) })
            }
            Self::CwdUnsteady { given, resolved }
            | Self::CwdMissing { given, resolved }
            | Self::CwdNotADirectory { given, resolved }
            | Self::CwdPermission { given, resolved } => json!({ "cwd": given, "resolved": text(resolved) }),
            Self::CwdNul { given } => json!({ "cwd": given }),
            Self::CwdUnusable { given, resolved, reason } => {
                json!({ "cwd": given, "resolved": text(resolved), "reason": reason })
            }
            Self::Resources { reason } => json!({ "reason": reason }),
            Self::Platform { needs, reason } => json!({ "needs": needs, "reason": reason }),
        }
    }
}
