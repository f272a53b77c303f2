//! The folder of the next task, made while nobody waits for it: most of what a start asks of the file system is to make
//! files. A vault has one at most, under a name that is no task's, and its lock says that a host means to use it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use nix::errno::Errno;
use nix::fcntl::{openat, renameat};
use nix::sys::stat::{Mode, fstat, fstatat, mkdirat};

use super::census;
use super::id::TaskId;
use super::layout;
use super::store::{DIRECTORY, NewTask, Vault, existing, is_own};
use crate::limits;
use crate::os::clock::epoch_ms;
use crate::os::file;

/// Its name.
pub(super) const NEXT: &str = ".next";

/// The one that this host has made.
#[derive(Debug, Default)]
pub(super) struct Next(Mutex<Option<NewTask>>);

impl Next {
    fn take(&self) -> Option<NewTask> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Vault {
    /// Makes the next task's folder, unless it is there or another host of this vault has made one.
    pub fn prepare_next(&self) {
        let mut next = self.next.0.lock().unwrap_or_else(PoisonError::into_inner);
        if next.is_none() {
            // Without one the next task makes its own, and tells what is wrong.
            *next = self.make_next().ok();
        }
    }

    /// Removes it again.
    pub fn discard_next(&self) {
        if self.next.take().is_some_and(|next| self.is_next(&next.folder)) {
            let _ = self.remove_next();
        }
    }

    fn make_next(&self) -> io::Result<NewTask> {
        match mkdirat(&self.dir, NEXT, Mode::S_IRWXU) {
            Err(Errno::EEXIST) if self.is_left() => {
                self.remove_next()?;
                mkdirat(&self.dir, NEXT, Mode::S_IRWXU)?;
            }
            made => made?,
        }
        let made = openat(&self.dir, NEXT, DIRECTORY, Mode::empty());
        made.map_err(io::Error::from).and_then(NewTask::in_folder).inspect_err(|_| {
            // Half of one on a full disk is in the way of what may free it.
            let _ = self.remove_next();
        })
    }

    /// Gives it the name of a task.
    pub(super) fn take_next(&self, task: &TaskId) -> Option<NewTask> {
        let next = self.next.take().filter(|next| self.is_next(&next.folder))?;
        // A task that is abandoned is over since then.
        next.pending.set_modified(SystemTime::now()).ok()?;
        renameat(&self.dir, NEXT, &self.dir, task.as_str()).ok()?;
        Some(next)
    }

    /// Whether this folder has the name: it, or the vault, may have been removed.
    fn is_next(&self, folder: &OwnedFd) -> bool {
        let flags = nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW;
        match (fstatat(&self.dir, NEXT, flags), fstat(folder)) {
            (Ok(named), Ok(own)) => (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino),
            _ => false,
        }
    }

    /// Whether what has the name was left by a host that is gone.
    fn is_left(&self) -> bool {
        let Ok(folder) = openat(&self.dir, NEXT, DIRECTORY, Mode::empty()) else { return false };
        let Ok(stat) = fstat(&folder) else { return false };
        if !is_own(stat.st_uid) {
            return false;
        }
        match existing(&folder, layout::PENDING) {
            // Once locked it can't have been given to a task: only who holds the lock does that.
            Ok(pending) => file::try_lock(&pending).unwrap_or(false) && self.is_next(&folder),
            Err(error) => {
                let changed = u64::try_from(stat.st_mtime).unwrap_or(0) * 1000;
                let since = epoch_ms().saturating_sub(changed);
                error.kind() == io::ErrorKind::NotFound && since > limits::UNFINISHED_AFTER_MS
            }
        }
    }

    fn remove_next(&self) -> io::Result<()> {
        let trash = census::trash_of(&TaskId::new()?);
        renameat(&self.dir, NEXT, &self.dir, trash.as_str())?;
        std::fs::remove_dir_all(self.inside(&trash))
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::CommandFile;
    use super::super::store::Found;
    use super::*;

    fn place() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path()).unwrap();
        (dir, vault)
    }

    fn names(vault: &Vault) -> Vec<String> {
        vault.names().unwrap()
    }

    fn command(task: &TaskId) -> CommandFile {
        let text = format!(
            r#"{{"taskId":"{task}","label":"x","argv":["x"],"cwd":"/","executable":"/x","startedAt":1,"timeoutMs":1,
                "maxOutputBytes":1,"hostPid":1}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_next_task_has_it_and_the_one_after_makes_its_own() {
        let (_dir, vault) = place();
        vault.prepare_next();
        vault.prepare_next();
        assert_eq!((names(&vault), vault.ids().unwrap()), (vec![NEXT.to_owned()], vec![]));
        let [first, second] = [TaskId::new().unwrap(), TaskId::new().unwrap()];
        let _held = [&first, &second].map(|task| vault.create(task, &command(task)).unwrap());
        for task in [&first, &second] {
            assert!(matches!(vault.find(task).unwrap(), Found::Live));
            assert_eq!(vault.command(task).unwrap(), command(task));
        }
        assert_eq!(names(&vault).len(), 2);
    }

    #[test]
    fn another_host_leaves_it_alone_until_its_maker_is_gone() {
        let (_dir, vault) = place();
        vault.prepare_next();
        let other = Vault::open(vault.path()).unwrap();
        other.prepare_next();
        other.discard_next();
        let task = TaskId::new().unwrap();
        let _held = other.create(&task, &command(&task)).unwrap();
        assert!(names(&vault).contains(&NEXT.to_owned()));
        drop(vault);
        other.prepare_next();
        let task = TaskId::new().unwrap();
        let _more = other.create(&task, &command(&task)).unwrap();
        assert!(matches!(other.find(&task).unwrap(), Found::Live));
        assert!(!names(&other).contains(&NEXT.to_owned()));
    }

    #[test]
    fn one_that_was_removed_is_not_missed() {
        let (dir, vault) = place();
        vault.prepare_next();
        std::fs::remove_dir_all(dir.path().join(NEXT)).unwrap();
        let task = TaskId::new().unwrap();
        let _held = vault.create(&task, &command(&task)).unwrap();
        assert!(matches!(vault.find(&task).unwrap(), Found::Live));
        vault.prepare_next();
        vault.discard_next();
        assert_eq!(names(&vault), [task.to_string()]);
    }

    #[test]
    fn a_half_made_one_is_in_nobodys_way() {
        let (dir, vault) = place();
        std::fs::create_dir(dir.path().join(NEXT)).unwrap();
        vault.prepare_next();
        let task = TaskId::new().unwrap();
        let _held = vault.create(&task, &command(&task)).unwrap();
        assert!(matches!(vault.find(&task).unwrap(), Found::Live));
    }
}
