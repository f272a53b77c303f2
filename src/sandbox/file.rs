//! A file that is looked for from the working directory and must lie beneath the root.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::beneath::{Start, Stopped, walk};
use super::dir::ConfinedDir;
use super::root::WorkspaceRoot;
use crate::os::path::Kind;

/// Something that was beneath the root when it was opened, held by an `O_PATH` descriptor. Its type is not looked
/// at.
#[derive(Debug)]
pub struct ConfinedFile {
    place: OwnedFd,
    real: PathBuf,
}

impl ConfinedFile {
    /// Its real path when it was opened. It need not be UTF-8.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// The descriptor and the real path.
    pub fn into_parts(self) -> (OwnedFd, PathBuf) {
        (self.place, self.real)
    }
}

impl AsFd for ConfinedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.place.as_fd()
    }
}

/// Why there is no such file. What it is called in a message is the caller's matter.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileStopped {
    /// It leads outside the root, or can't be shown to stay inside.
    Outside {
        /// Where it leads.
        resolved: PathBuf,
    },
    /// It leads inside, and the kernel refused.
    Failed {
        /// Where it leads.
        resolved: PathBuf,
        /// The kernel's reason.
        errno: Errno,
    },
    /// `/proc` can't be read.
    NoProc {
        /// The kernel's reason.
        errno: Errno,
    },
}

/// Opens `wanted` from the directory `cwd`. `..` may lead above `cwd`, not above the root.
pub fn open_file_beneath(
    root: &WorkspaceRoot,
    cwd: &ConfinedDir,
    wanted: &Path,
) -> Result<ConfinedFile, FileStopped> {
    match walk(root, Start { place: cwd.as_fd(), real: cwd.path() }, wanted, Kind::Any) {
        Ok(reached) => Ok(ConfinedFile { place: reached.place, real: reached.real }),
        Err(Stopped::Outside { resolved } | Stopped::Unsteady { resolved }) => {
            Err(FileStopped::Outside { resolved })
        }
        Err(Stopped::Failed { resolved, errno }) => Err(FileStopped::Failed { resolved, errno }),
        Err(Stopped::NoProc { errno }) => Err(FileStopped::NoProc { errno }),
    }
}
