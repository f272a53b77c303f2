//! The file that will run: what it was when it was checked, and whether it still is.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{FileStat, fstat, stat};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ProgramError;

/// What tells one state of one file from another. Times are seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// The file system.
    pub dev: u64,
    /// The file on it.
    pub ino: u64,
    /// Its length in bytes.
    pub size: i64,
    /// Last write.
    pub mtime: (i64, i64),
    /// Last change of anything, mode and links included; no program can set it.
    pub ctime: (i64, i64),
}

impl FileIdentity {
    pub(super) fn of(seen: &FileStat) -> Self {
        Self {
            dev: seen.st_dev,
            ino: seen.st_ino,
            size: seen.st_size,
            mtime: (seen.st_mtime, seen.st_mtime_nsec),
            ctime: (seen.st_ctime, seen.st_ctime_nsec),
        }
    }
}

/// How the kernel runs the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramKind {
    /// Machine code for this machine, or a file that may be executed but not read.
    Binary,
    /// A text whose `#!` line names what runs it.
    Script {
        /// The interpreter, as the line names it.
        interpreter: PathBuf,
    },
    /// A format that only `binfmt_misc` may know; it is not known whether it does.
    Foreign,
}

/// What is known about the file beside its descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFacts {
    /// Absolute; what is executed and shown. Not resolved: a multi-call binary or a script sees this name.
    pub path: PathBuf,
    /// Where that path led.
    pub real: PathBuf,
    /// The file's state when it was checked.
    pub identity: FileIdentity,
    /// How it is run.
    pub kind: ProgramKind,
    /// The policy's digest, which it had.
    pub pin: Option<[u8; 32]>,
}

/// A program that was looked at, held by descriptor while a human thinks.
#[derive(Debug)]
pub struct ResolvedProgram {
    facts: ProgramFacts,
    file: OwnedFd,
}

/// What to hand to the kernel.
#[derive(Debug, Clone, Copy)]
pub enum ExecBy<'p> {
    /// `execve(2)` of this path.
    Path(&'p Path),
    /// `execveat(2)` of this descriptor with `AT_EMPTY_PATH`: the file is the one that was read, whatever its path
    /// names. It may be close-on-exec.
    Descriptor(BorrowedFd<'p>),
}

impl ResolvedProgram {
    /// Puts together what [`Self::into_parts`] took apart, on the other side of a socket. The facts must have come
    /// with this descriptor.
    pub fn from_parts(facts: ProgramFacts, file: OwnedFd) -> Self {
        Self { facts, file }
    }

    /// What is known about the file, and its descriptor.
    pub fn into_parts(self) -> (ProgramFacts, OwnedFd) {
        (self.facts, self.file)
    }

    /// What is known about the file.
    pub fn facts(&self) -> &ProgramFacts {
        &self.facts
    }

    /// The absolute path that is executed and shown.
    pub fn path(&self) -> &Path {
        &self.facts.path
    }

    /// A pinned binary goes by descriptor. All else goes by path: by descriptor a script would see `/dev/fd/N` as
    /// its `$0` (and could not be opened if that is close-on-exec), and before Linux 6.14 a process would be named
    /// after the number.
    pub fn exec_by(&self) -> ExecBy<'_> {
        match (&self.facts.kind, self.facts.pin) {
            (ProgramKind::Binary, Some(_)) => ExecBy::Descriptor(self.file.as_fd()),
            _ => ExecBy::Path(&self.facts.path),
        }
    }

    /// Whether the path still names the file that was checked, in the state it had; for a pin also whether its
    /// bytes still have the digest. Call it right before the start, and once more after it for a pinned program
    /// that is executed by its path. A pin reads the whole file: not on the host's event loop.
    pub fn verify(&self) -> Result<(), ProgramError> {
        let ProgramFacts { path, identity, pin, .. } = &self.facts;
        if let Some(expected) = pin {
            check_pin(self.file.as_fd(), path, expected)?;
        }
        let replaced = |what| ProgramError::Replaced { path: path.clone(), what };
        let held = fstat(&self.file).map_err(|_| replaced("its descriptor can't be looked at"))?;
        if FileIdentity::of(&held) != *identity {
            return Err(replaced("it was written to, or its permissions or links were changed"));
        }
        match stat(path) {
            Err(_) => Err(replaced("nothing can be found there any more")),
            Ok(named) if FileIdentity::of(&named) != *identity => {
                Err(replaced("another file is there by now"))
            }
            Ok(_) => Ok(()),
        }
    }
}

impl AsFd for ResolvedProgram {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Compares the digest of what `file` holds. A descriptor that was opened without read permission can't be
/// compared.
pub(super) fn check_pin(file: BorrowedFd<'_>, path: &Path, expected: &[u8; 32]) -> Result<(), ProgramError> {
    let unreadable =
        |error: io::Error| ProgramError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let actual = file.try_clone_to_owned().and_then(|file| sha256(&File::from(file))).map_err(unreadable)?;
    if actual == *expected {
        Ok(())
    } else {
        Err(ProgramError::WrongDigest { path: path.to_owned(), expected: *expected, actual })
    }
}

/// Reads by position: the descriptor's offset is shared with whoever it was passed to.
fn sha256(file: &File) -> io::Result<[u8; 32]> {
    const CHUNK: usize = 128 * 1024;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut from = 0;
    loop {
        match file.read_at(&mut buffer, from) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(count) => {
                hasher.update(buffer.get(..count).unwrap_or_default());
                from += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
