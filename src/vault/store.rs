//! The vault's directory: opening it, making a task's folder, finding it again.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};

use super::error::VaultError;
use super::id::{Stream, TaskId};
use super::layout;
use super::next::Next;
use super::record::{CommandFile, Outcome};
use crate::limits;
use crate::os::file;

pub(super) const DIRECTORY: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC).union(OFlag::O_NOFOLLOW);
const NEW_FILE: OFlag = OFlag::O_RDWR.union(OFlag::O_CREAT).union(OFlag::O_EXCL).union(OFlag::O_CLOEXEC);
/// `O_NONBLOCK`: a FIFO that somebody put in a file's place must not be waited for.
const EXISTING: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_CLOEXEC).union(OFlag::O_NOFOLLOW).union(OFlag::O_NONBLOCK);
pub(super) const OWN_FILE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

/// An open vault: a directory of this user that nobody else may write.
#[derive(Debug)]
pub struct Vault {
    pub(super) dir: OwnedFd,
    pub(super) path: PathBuf,
    pub(super) next: Next,
}

/// A task's folder with the descriptors that its keeper will need.
#[derive(Debug)]
pub struct NewTask {
    /// The folder.
    pub folder: OwnedFd,
    /// The reserved record, locked: the task is live while any duplicate is open.
    pub pending: File,
    /// Where standard output goes.
    pub stdout: File,
    /// Where standard error goes.
    pub stderr: File,
}

impl NewTask {
    /// The files of a task that is to be, in its empty folder, with the record's blocks reserved and locked.
    pub(super) fn in_folder(folder: OwnedFd) -> io::Result<Self> {
        let pending = new_file(&folder, layout::PENDING)?;
        if !file::try_lock(&pending)? {
            return Err(io::Error::from(Errno::EWOULDBLOCK));
        }
        file::reserve(&pending, limits::RECORD_RESERVED_BYTES)?;
        let stdout = new_file(&folder, layout::STDOUT)?;
        let stderr = new_file(&folder, layout::STDERR)?;
        Ok(Self { folder, pending, stdout, stderr })
    }

    /// The same files once more.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            folder: self.folder.try_clone()?,
            pending: self.pending.try_clone()?,
            stdout: self.stdout.try_clone()?,
            stderr: self.stderr.try_clone()?,
        })
    }
}

/// What a folder says of its task.
#[derive(Debug)]
pub enum Found {
    /// A keeper, or a host's queue, has it.
    Live,
    /// It is over.
    Settled(Box<Outcome>),
    /// Nobody has it and nothing says how it ended.
    Abandoned {
        /// Whether its program may have run.
        began: bool,
    },
}

impl Vault {
    /// Opens the vault at `path`, made with mode 0700 if it isn't there, parents too.
    pub fn open(path: &Path) -> Result<Self, VaultError> {
        let shown = || path.display().to_string();
        let opened = |source| VaultError::Open { path: shown(), source };
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(opened(error)),
            _ => {}
        }
        let dir = File::open(path).map_err(opened)?;
        let meta = dir.metadata().map_err(opened)?;
        let own = nix::unistd::geteuid().as_raw();
        if !meta.is_dir() {
            return Err(opened(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        if meta.uid() != own {
            return Err(VaultError::Owner { path: shown(), owner: meta.uid(), own });
        }
        if meta.mode() & 0o022 != 0 {
            return Err(VaultError::Mode { path: shown(), mode: meta.mode() & 0o7777 });
        }
        let path = std::fs::canonicalize(path).map_err(opened)?;
        Ok(Self { dir: dir.into(), path, next: Next::default() })
    }

    /// Where the vault is when nobody says: `$XDG_STATE_HOME/argvault`, else `~/.local/state/argvault`.
    pub fn default_path(xdg_state_home: Option<&str>, home: Option<&str>) -> Result<PathBuf, VaultError> {
        let absolute = |text: Option<&str>| text.map(PathBuf::from).filter(|path| path.is_absolute());
        match (absolute(xdg_state_home), absolute(home)) {
            (Some(state), _) => Ok(state.join("argvault")),
            (None, Some(home)) => Ok(home.join(".local/state/argvault")),
            (None, None) => Err(VaultError::NoPlace),
        }
    }

    /// Its directory, resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder of a new task, with the record's blocks reserved and locked, and `command.json` written.
    pub fn create(&self, task: &TaskId, command: &CommandFile) -> Result<NewTask, VaultError> {
        let make = || -> io::Result<NewTask> {
            match mkdirat(&self.dir, task.as_str(), Mode::S_IRWXU) {
                // The vault itself was removed underneath.
                Err(Errno::ENOENT) => {
                    self.make_anew()?;
                    mkdirat(&self.dir, task.as_str(), Mode::S_IRWXU)?;
                }
                made => made?,
            }
            NewTask::in_folder(openat(&self.dir, task.as_str(), DIRECTORY, Mode::empty())?)
        };
        let create = || -> io::Result<NewTask> {
            let files = self.take_next(task).map_or_else(make, Ok)?;
            new_file(&files.folder, layout::COMMAND)?.write_all(&serde_json::to_vec(command)?)?;
            Ok(files)
        };
        create().map_err(|source| {
            self.discard(task);
            VaultError::Create { path: self.path.display().to_string(), source }
        })
    }

    /// Makes the directory again, with the same checks, and points the descriptor that everybody here borrows at it.
    fn make_anew(&self) -> io::Result<()> {
        let Self { dir: new, .. } = Self::open(&self.path).map_err(io::Error::other)?;
        let moved = file::move_to(new, self.dir.as_raw_fd())?;
        // The number is still this vault's to close, once.
        let _ = moved.into_raw_fd();
        Ok(())
    }

    /// Removes the folder of a task of which nothing ran.
    pub fn discard(&self, task: &TaskId) {
        let _ = std::fs::remove_dir_all(self.path.join(task.as_str()));
    }

    /// A task's folder: a directory of this user, not a link to one.
    pub fn folder(&self, task: &TaskId) -> Result<OwnedFd, VaultError> {
        let unknown = || VaultError::UnknownTask { id: task.to_string() };
        let folder =
            openat(&self.dir, task.as_str(), DIRECTORY, Mode::empty()).map_err(|errno| match errno {
                Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP => unknown(),
                errno => read_error(task.as_str(), errno.into()),
            })?;
        let stat = nix::sys::stat::fstat(&folder).map_err(|errno| read_error(task.as_str(), errno.into()))?;
        if is_own(stat.st_uid) { Ok(folder) } else { Err(unknown()) }
    }

    /// What was started. A folder whose `command.json` isn't whole never started anything.
    pub fn command(&self, task: &TaskId) -> Result<CommandFile, VaultError> {
        let bytes = match read_file(&self.folder(task)?, layout::COMMAND) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|source| read_error(task.as_str(), source))?,
        };
        serde_json::from_slice(&bytes).map_err(|_| VaultError::UnknownTask { id: task.to_string() })
    }

    /// How the task stands. Asked only of one whose `command.json` is there: by then its record is locked.
    pub fn find(&self, task: &TaskId) -> Result<Found, VaultError> {
        let folder = self.folder(task)?;
        let unreadable = |error: io::Error| read_error(task.as_str(), error);
        let outcome = || -> Result<Option<Found>, VaultError> {
            match read_file(&folder, layout::RECORD) {
                Ok(bytes) => match serde_json::from_slice(&bytes) {
                    Ok(outcome) => Ok(Some(Found::Settled(Box::new(outcome)))),
                    Err(error) => Err(unreadable(error.into())),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(unreadable(error)),
            }
        };
        if let Some(found) = outcome()? {
            return Ok(found);
        }
        let left = match existing(&folder, layout::PENDING) {
            Ok(pending) if is_locked(&pending).map_err(unreadable)? => return Ok(Found::Live),
            Ok(pending) => Some(pending),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(error)),
        };
        // It may have been settled between the two looks.
        if let Some(found) = outcome()? {
            return Ok(found);
        }
        let mut bytes = Vec::new();
        if let Some(mut left) = left {
            left.read_to_end(&mut bytes).map_err(unreadable)?;
        }
        // Whoever wrote it may have ended before the renaming: an outcome that is whole is as good without its name.
        Ok(match serde_json::from_slice(&bytes) {
            Ok(outcome) => Found::Settled(Box::new(outcome)),
            Err(_) => Found::Abandoned { began: !bytes.is_empty() },
        })
    }

    /// Writes the outcome of a task that nobody has any more.
    pub fn adopt(&self, task: &TaskId, outcome: &Outcome, sync: bool) -> io::Result<()> {
        const TRIES: usize = 20;
        let folder = openat(&self.dir, task.as_str(), DIRECTORY, Mode::empty())?;
        let flags = OFlag::O_RDWR | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let pending = File::from(openat(&folder, layout::PENDING, flags, Mode::empty())?);
        // Those who look hold a shared lock for a moment.
        for _ in 0..TRIES {
            if file::try_lock(&pending)? {
                return layout::store_outcome(&folder, &pending, outcome, sync);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Err(io::Error::from(io::ErrorKind::WouldBlock))
    }

    /// The stored index of a stream, if there is one.
    pub fn index(&self, task: &TaskId, stream: &str) -> Option<File> {
        existing(&self.folder(task).ok()?, &layout::index_name(stream)).ok()
    }

    /// A command's output stream, open for reading.
    pub fn stream(&self, task: &TaskId, stream: Stream) -> Result<File, VaultError> {
        match existing(&self.folder(task)?, stream.name()) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(VaultError::UnknownTask { id: task.to_string() })
            }
            Err(error) => Err(read_error(task.as_str(), error)),
        }
    }
}

pub(super) fn is_own(uid: u32) -> bool {
    uid == nix::unistd::geteuid().as_raw()
}

pub(super) fn new_file(folder: &OwnedFd, name: &str) -> io::Result<File> {
    Ok(openat(folder, name, NEW_FILE, OWN_FILE)?.into())
}

/// Opens a file for reading that is one, is this user's, and is no link.
pub(super) fn existing(folder: &OwnedFd, name: &str) -> io::Result<File> {
    let file = File::from(openat(folder, name, EXISTING, Mode::empty())?);
    let meta = file.metadata()?;
    if meta.is_file() && is_own(meta.uid()) {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{name} is not a file of this user")))
}

/// Whether somebody holds the lock. Shared, so that two who look at once don't see each other; given back at once.
pub(super) fn is_locked(pending: &File) -> io::Result<bool> {
    match Flock::lock(pending.try_clone()?, FlockArg::LockSharedNonblock) {
        Ok(_) => Ok(false),
        Err((_, Errno::EWOULDBLOCK)) => Ok(true),
        Err((_, errno)) => Err(errno.into()),
    }
}

pub(super) fn read_file(folder: &OwnedFd, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    existing(folder, name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_error(name: &str, source: io::Error) -> VaultError {
    VaultError::Read { name: name.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::super::record::Cause;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn command(task: &TaskId) -> CommandFile {
        CommandFile {
            task_id: task.to_string(),
            label: "git log".into(),
            argv: vec!["git".into(), "log".into()],
            cwd: "/".into(),
            executable: "/usr/bin/git".into(),
            session_id: None,
            started_at: 1,
            timeout_ms: 2,
            max_output_bytes: 3,
            queued: false,
            host_pid: 4,
            confinement: None,
            tmp_dir: None,
            keep_tmp: false,
        }
    }

    #[test]
    fn a_task_is_live_while_its_record_is_locked_then_settled_or_abandoned() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(&dir.path().join("made/with/parents")).unwrap();
        let task = TaskId::new().unwrap();
        let new = vault.create(&task, &command(&task)).unwrap();
        assert_eq!(vault.command(&task).unwrap(), command(&task));
        assert!(matches!(vault.find(&task).unwrap(), Found::Live));

        let outcome = Outcome::bare(Cause::Kill, "x");
        layout::store_outcome(&new.folder, &new.pending, &outcome, false).unwrap();
        assert!(matches!(vault.find(&task).unwrap(), Found::Settled(found) if *found == outcome));

        let other = TaskId::new().unwrap();
        drop(vault.create(&other, &command(&other)).unwrap());
        assert!(matches!(vault.find(&other).unwrap(), Found::Abandoned { began: false }));
    }

    #[test]
    fn the_vault_is_private_and_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vault");
        let vault = Vault::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let task = TaskId::new().unwrap();
        drop(vault.create(&task, &command(&task)).unwrap());
        for name in [layout::COMMAND, layout::STDOUT, layout::STDERR, layout::PENDING] {
            let mode = std::fs::metadata(path.join(task.as_str()).join(name)).unwrap().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(matches!(Vault::open(&path), Err(VaultError::Mode { mode: 0o770, .. })));
    }

    #[test]
    fn a_vault_that_was_removed_is_made_anew_by_the_next_task() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vault");
        let vault = Vault::open(&path).unwrap();
        std::fs::remove_dir(&path).unwrap();
        let task = TaskId::new().unwrap();
        let _new = vault.create(&task, &command(&task)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert!(matches!(vault.find(&task).unwrap(), Found::Live));
    }

    #[test]
    fn a_file_in_the_place_of_the_vault_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Vault::open(&path), Err(VaultError::Open { .. })));
    }

    #[test]
    fn unknown_tasks_are_told_as_such() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path()).unwrap();
        let task = TaskId::new().unwrap();
        assert!(matches!(vault.command(&task), Err(VaultError::UnknownTask { .. })));
        assert!(matches!(vault.find(&task), Err(VaultError::UnknownTask { .. })));
    }
}
