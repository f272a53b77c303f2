//! The directory that everything else must lie beneath.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::beneath::{Start, resolve_as_text};
use super::error::SandboxError;
use crate::os::path::{self, Kind, Reach};

/// The policy's `cwdRoot`, opened for one start. From then on it is the descriptor: renaming the directory or
/// replacing a link on the way to it changes nothing.
#[derive(Debug)]
pub struct WorkspaceRoot {
    place: OwnedFd,
    given: String,
    real: PathBuf,
}

impl WorkspaceRoot {
    /// Opens the root. It must be absolute: relative to what would depend on where the host was when the policy was
    /// set and where it is now. It may be, or lead through, symbolic links.
    pub fn open(given: &str) -> Result<Self, SandboxError> {
        let wanted = Path::new(given);
        let unusable =
            |reason: &str| SandboxError::RootUnusable { given: given.into(), reason: reason.into() };
        if given.contains('\0') {
            return Err(unusable("a path can't hold NUL"));
        }
        if wanted.is_relative() {
            return Err(SandboxError::RootNotAbsolute { given: given.into() });
        }
        let failed = |errno: Errno| {
            let resolved = resolve_as_text(wanted);
            let given = given.to_owned();
            match errno {
                Errno::ENOENT => SandboxError::RootMissing { given, resolved },
                Errno::ENOTDIR => SandboxError::RootNotADirectory { given, resolved },
                Errno::EACCES => SandboxError::RootPermission { given, resolved },
                errno => SandboxError::of_system(errno)
                    .unwrap_or_else(|| SandboxError::RootUnusable { given, reason: errno.desc().into() }),
            }
        };
        let place = path::open_place(AT_FDCWD, wanted, Kind::Directory, Reach::Anywhere).map_err(failed)?;
        path::may_execute(place.as_fd()).map_err(failed)?;
        match path::path_of(&place) {
            Ok(Some(real)) => Ok(Self { place, given: given.into(), real }),
            Ok(None) => Err(failed(Errno::ENOENT)),
            Err(error) => Err(SandboxError::no_proc(path::errno_of(&error))),
        }
    }

    /// The root as the policy names it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The root's real path when it was opened.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// What is left of `real` below the root, if it lies there: below its path when it was opened or, should it
    /// have been renamed since, below the one it has now.
    pub(super) fn below(&self, real: &Path) -> Option<PathBuf> {
        if let Ok(rest) = real.strip_prefix(&self.real) {
            return Some(rest.to_owned());
        }
        let now = path::path_of(&self.place).ok().flatten()?;
        real.strip_prefix(now).ok().map(Path::to_owned)
    }

    pub(super) fn start(&self) -> Start<'_> {
        Start { place: self.place.as_fd(), real: &self.real }
    }
}

impl AsFd for WorkspaceRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.place.as_fd()
    }
}
