//! The directory that a command runs in.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::beneath::{Stopped, walk};
use super::error::SandboxError;
use super::root::WorkspaceRoot;
use crate::os::path::{self, Kind};

/// A directory that was beneath the root when it was opened, and that this user may enter. Pass the descriptor to
/// the child and `fchdir(2)` there (allowed on `O_PATH` since Linux 3.5); the path is for people.
#[derive(Debug)]
pub struct ConfinedDir {
    place: OwnedFd,
    given: Option<String>,
    real: PathBuf,
}

impl ConfinedDir {
    /// Opens a command's working directory: relative to the root, or absolute by any name that leads inside it.
    /// Absent and empty are the root itself.
    pub fn open(root: &WorkspaceRoot, cwd: Option<&str>) -> Result<Self, SandboxError> {
        let given = cwd.unwrap_or_default();
        if given.contains('\0') {
            return Err(SandboxError::CwdNul { given: given.into() });
        }
        let refused = |stopped| refusal(root, given, stopped);
        let reached =
            walk(root, root.start(), beneath_root(root, given), Kind::Directory).map_err(refused)?;
        path::may_execute(reached.place.as_fd())
            .map_err(|errno| refused(Stopped::Failed { resolved: reached.real.clone(), errno }))?;
        Ok(Self { place: reached.place, given: cwd.map(str::to_owned), real: reached.real })
    }

    /// The directory as the caller named it; `None` when it did not.
    pub fn given(&self) -> Option<&str> {
        self.given.as_deref()
    }

    /// Its real path when it was opened. It need not be UTF-8.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// The descriptor, to be passed on.
    pub fn into_fd(self) -> OwnedFd {
        self.place
    }
}

impl AsFd for ConfinedDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.place.as_fd()
    }
}

/// An absolute path that is spelled through the root, as the policy names it or as it really is, is what remains
/// after the root: the root is already held, so its own name is not walked a second time. Whole names are compared:
/// `/srv/root-evil` is not spelled through `/srv/root`.
fn beneath_root<'p>(root: &WorkspaceRoot, given: &'p str) -> &'p Path {
    let wanted = Path::new(given);
    [Path::new(root.given()), root.path()]
        .into_iter()
        .find_map(|prefix| wanted.strip_prefix(prefix).ok())
        .unwrap_or(wanted)
}

fn refusal(root: &WorkspaceRoot, given: &str, stopped: Stopped) -> SandboxError {
    let given = if given.is_empty() { root.given() } else { given }.to_owned();
    match stopped {
        Stopped::Outside { resolved } => {
            SandboxError::CwdOutsideRoot { given, resolved, root: root.path().to_owned() }
        }
        Stopped::Unsteady { resolved } => SandboxError::CwdUnsteady { given, resolved },
        Stopped::NoProc { errno } => SandboxError::no_proc(errno),
        Stopped::Failed { resolved, errno } => match errno {
            Errno::ENOENT => SandboxError::CwdMissing { given, resolved },
            Errno::ENOTDIR => SandboxError::CwdNotADirectory { given, resolved },
            Errno::EACCES => SandboxError::CwdPermission { given, resolved },
            errno => SandboxError::of_system(errno).unwrap_or_else(|| SandboxError::CwdUnusable {
                given,
                resolved,
                reason: errno.desc().into(),
            }),
        },
    }
}
