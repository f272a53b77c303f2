//! The look at one file before it is started.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::sys::statvfs::{FsFlags, fstatvfs};

use super::error::ProgramError;
use super::format::{self, Format, Handlers, Machine};
use super::identity::{FileIdentity, ProgramFacts, ProgramKind, ResolvedProgram, check_pin};
use super::unstartable::Why;
use crate::os::path;
use crate::sandbox::ConfinedDir;

/// Why a file doesn't become a [`ResolvedProgram`].
#[derive(Debug)]
pub(super) enum Rejected {
    Refused(ProgramError),
    Unstartable(Why),
}

impl From<ProgramError> for Rejected {
    fn from(error: ProgramError) -> Self {
        Self::Refused(error)
    }
}

impl From<Why> for Rejected {
    fn from(why: Why) -> Self {
        Self::Unstartable(why)
    }
}

/// A place that a name led to.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// As the policy names it.
    pub(super) name: &'a str,
    /// What will be executed and shown.
    pub(super) path: PathBuf,
    /// The policy's digest.
    pub(super) pin: Option<[u8; 32]>,
    /// Where a relative interpreter is looked for.
    pub(super) cwd: &'a ConfinedDir,
}

impl Candidate<'_> {
    /// The system's refusal to open the path.
    pub(super) fn not_opened(&self, errno: Errno) -> Rejected {
        let path = self.path.clone();
        match errno {
            Errno::ENOENT => Why::Missing { path }.into(),
            Errno::ENOTDIR => Why::ThroughAFile { path }.into(),
            Errno::EACCES => Why::Unreachable { path }.into(),
            Errno::ELOOP => Why::LinkLoop { path }.into(),
            errno => match ProgramError::of_system(self.name, errno) {
                Some(error) => error.into(),
                None => Why::System { path, reason: errno.desc().into() }.into(),
            },
        }
    }

    /// Looks at what `place` (`O_PATH`) holds. Its type comes first: only a regular file is opened.
    pub(super) fn examine(self, place: OwnedFd) -> Result<ResolvedProgram, Rejected> {
        let seen = fstat(&place).map_err(|errno| self.not_opened(errno))?;
        self.check_type(&seen)?;
        self.check_permission(place.as_fd())?;
        let real = match path::path_of(&place) {
            Ok(Some(real)) => real,
            Ok(None) => return Err(Why::Missing { path: self.path }.into()),
            Err(error) => {
                let (needs, reason) = ("/proc".into(), error.to_string());
                return Err(ProgramError::Platform { name: self.name.into(), needs, reason }.into());
            }
        };
        let (file, kind) = match path::reopen_for_reading(place.as_fd()) {
            Ok(file) => {
                if let Some(expected) = &self.pin {
                    check_pin(file.as_fd(), &self.path, expected)?;
                }
                let format = format::of(&file).map_err(|error| self.not_opened(path::errno_of(&error)))?;
                (OwnedFd::from(file), self.check_format(format)?)
            }
            Err(error) => match path::errno_of(&error) {
                // Execute permission alone is enough for a binary; its head can't be looked at.
                Errno::EACCES if self.pin.is_none() => (place, ProgramKind::Binary),
                Errno::EACCES => {
                    let reason = Errno::EACCES.desc().into();
                    return Err(ProgramError::Unreadable { path: self.path, reason }.into());
                }
                errno => return Err(self.not_opened(errno)),
            },
        };
        let facts = ProgramFacts {
            path: self.path,
            real,
            // Taken before the digest: what is written after this look shows in the next one.
            identity: FileIdentity::of(&seen),
            kind,
            pin: self.pin,
        };
        Ok(ResolvedProgram::from_parts(facts, file))
    }

    fn check_type(&self, seen: &FileStat) -> Result<(), Why> {
        let path = self.path.clone();
        let kind = SFlag::from_bits_truncate(seen.st_mode & SFlag::S_IFMT.bits());
        Err(match kind {
            SFlag::S_IFREG => return Ok(()),
            SFlag::S_IFDIR => Why::Directory { path },
            SFlag::S_IFIFO => Why::NotAFile { path, what: "a FIFO" },
            SFlag::S_IFSOCK => Why::NotAFile { path, what: "a socket" },
            _ => Why::NotAFile { path, what: "a device" },
        })
    }

    fn check_permission(&self, place: BorrowedFd<'_>) -> Result<(), Rejected> {
        match path::may_execute(place) {
            Ok(()) => Ok(()),
            Err(Errno::EACCES) => {
                let path = self.path.clone();
                let noexec = fstatvfs(place).is_ok_and(|fs| fs.flags().contains(FsFlags::ST_NOEXEC));
                Err(if noexec { Why::NoExecMount { path } } else { Why::NotExecutable { path } }.into())
            }
            Err(errno) => Err(self.not_opened(errno)),
        }
    }

    /// A text is refused unless a handler is known to exist: handlers go by magic bytes, or rarely by a file name's
    /// ending, and a script that forgot its `#!` is by far the likelier case. Other unknown bytes are refused only
    /// where it is known that no handler exists; else `execve(2)` has the word.
    fn check_format(&self, format: Format) -> Result<ProgramKind, Why> {
        let path = self.path.clone();
        match format {
            Format::Empty => Err(Why::Empty { path }),
            Format::Script { interpreter: None } => Err(Why::BadShebang { path }),
            Format::Script { interpreter: Some(interpreter) } => match self.problem_of(&interpreter) {
                Some(problem) => Err(Why::Interpreter { path, interpreter, problem }),
                None => Ok(ProgramKind::Script { interpreter }),
            },
            Format::Elf { machine: Machine::This | Machine::Unlisted, loader } => match loader {
                Some(loader) => match self.problem_of(&loader) {
                    Some(problem) => Err(Why::Loader { path, loader, problem }),
                    None => Ok(ProgramKind::Binary),
                },
                None => Ok(ProgramKind::Binary),
            },
            Format::Elf { machine: Machine::Another, .. } => match format::handlers() {
                Handlers::None => Err(Why::OtherMachine { path }),
                Handlers::Some | Handlers::Unknown => Ok(ProgramKind::Foreign),
            },
            Format::Unknown { text } => match format::handlers() {
                Handlers::Some => Ok(ProgramKind::Foreign),
                Handlers::Unknown if !text => Ok(ProgramKind::Foreign),
                Handlers::None | Handlers::Unknown => Err(Why::UnknownFormat { path }),
            },
        }
    }

    /// What keeps the kernel from executing an interpreter or loader. A relative one is looked for from the working
    /// directory, as the kernel does.
    fn problem_of(&self, helper: &Path) -> Option<&'static str> {
        let start = self.cwd.as_fd();
        match std::fs::metadata(path::name_under_proc(start).join(helper)) {
            Ok(found) if !found.is_file() => Some("is not a regular file"),
            Ok(_) => path::may_execute_at(start, helper).err().map(|_| "is not executable for this user"),
            Err(error) => Some(match path::errno_of(&error) {
                Errno::EACCES => "can't be reached by this user",
                _ => "does not exist",
            }),
        }
    }
}
