//! Removing what is over, the oldest first. Never a live one, never another user's.
//!
//! A folder is renamed out of sight before it is emptied, so that no reader meets half of one. What a crash leaves of
//! that is removed by the next cleanup, of whatever process.

use std::ffi::CString;
use std::time::{Duration, Instant};

use nix::fcntl::renameat;

use super::bank::BANKING;
use super::census::{self, Census, Entry, TRASH};
use super::error::VaultError;
use super::id::TaskId;
use super::store::Vault;
use super::sweep;
use crate::limits;
use crate::os::clock::epoch_ms;

/// What may be removed. With neither bound nothing is but what a crash left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Over longer ago than this, in milliseconds.
    pub older_than_ms: Option<u64>,
    /// The oldest, until the vault holds no more than this many bytes.
    pub max_bytes: Option<u64>,
}

/// What was removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Tasks and artifacts.
    pub ids: Vec<TaskId>,
    /// Bytes of disk blocks that are free again, leftovers of crashes included.
    pub freed_bytes: u64,
    /// Bytes of disk blocks that the vault holds afterwards.
    pub left_bytes: u64,
}

impl Vault {
    /// Removes what `retention` lets go.
    pub fn cleanup(&self, retention: Retention) -> Result<Removed, VaultError> {
        let mut removed = Removed { freed_bytes: self.finish_removals()?, ..Removed::default() };
        let Census { bytes, entries } = self.census()?;
        removed.left_bytes = bytes;
        let mut over: Vec<(u64, Entry)> =
            entries.into_iter().filter_map(|entry| Some((entry.over_since?, entry))).collect();
        over.sort_unstable_by_key(|(since, entry)| (*since, entry.id));
        let now = epoch_ms();
        for (since, entry) in over {
            let too_old = retention.older_than_ms.is_some_and(|most| now.saturating_sub(since) > most);
            let too_much = retention.max_bytes.is_some_and(|most| removed.left_bytes > most);
            if !too_old && !too_much {
                break; // those after it are younger
            }
            if self.remove(&entry.id) {
                removed.ids.push(entry.id);
                removed.freed_bytes += entry.bytes;
            }
            removed.left_bytes = removed.left_bytes.saturating_sub(entry.bytes);
        }
        Ok(removed)
    }

    /// `false` when another process was faster, or it can't be done.
    fn remove(&self, id: &TaskId) -> bool {
        let trash = census::trash_of(id);
        if renameat(&self.dir, id.as_str(), &self.dir, trash.as_str()).is_err() {
            return false;
        }
        self.sweep(&trash);
        true
    }

    /// Removes what a crash left of a removal or a banking; says how much that was.
    fn finish_removals(&self) -> Result<u64, VaultError> {
        let mut freed = 0;
        for name in self.names()? {
            let unfinished = |id: &str| {
                let made = TaskId::parse(id).map_or(0, |id| id.made_at());
                epoch_ms().saturating_sub(made) > limits::UNFINISHED_AFTER_MS
            };
            if name.starts_with(TRASH) || name.strip_prefix(BANKING).is_some_and(unfinished) {
                let path = self.inside(&name);
                freed += census::disk_bytes(&path);
                self.sweep(&name);
            }
        }
        Ok(freed)
    }

    /// Removes a folder, in which a command may have left what it liked. What is too much for one time is left to the
    /// next.
    fn sweep(&self, name: &str) {
        let Ok(name) = CString::new(name) else { return };
        let until = Instant::now() + Duration::from_millis(limits::CLEANUP_SWEEP_MS);
        sweep::remove(&self.dir, &name, until);
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout;
    use super::super::record::{Cause, CommandFile, Outcome};
    use super::super::store::NewTask;
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;
    use std::time::SystemTime;

    struct Place {
        dir: tempfile::TempDir,
        vault: Vault,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let vault = Vault::open(dir.path()).unwrap();
            Self { dir, vault }
        }

        fn live(&self) -> (TaskId, NewTask) {
            let task = TaskId::new().unwrap();
            let command = CommandFile {
                task_id: task.to_string(),
                label: "x".into(),
                argv: vec!["x".into()],
                cwd: "/".into(),
                executable: "/x".into(),
                session_id: None,
                started_at: 1,
                timeout_ms: 1,
                max_output_bytes: 1,
                queued: false,
                host_pid: 1,
                confinement: None,
                tmp_dir: None,
                keep_tmp: false,
            };
            let new = self.vault.create(&task, &command).unwrap();
            (task, new)
        }

        fn settled(&self, bytes: usize, age: Duration) -> TaskId {
            let (task, new) = self.live();
            new.stdout.write_all_at(&vec![b'x'; bytes], 0).unwrap();
            let outcome = Outcome::bare(Cause::Kill, "x");
            layout::store_outcome(&new.folder, &new.pending, &outcome, false).unwrap();
            self.age(&task, layout::RECORD, age);
            task
        }

        fn age(&self, task: &TaskId, name: &str, age: Duration) {
            let file = File::open(self.dir.path().join(task.as_str()).join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }

        fn left(&self) -> Vec<TaskId> {
            let mut ids = self.vault.ids().unwrap();
            ids.reverse();
            ids
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn the_old_go_and_the_live_stay() {
        let place = Place::new();
        let old = place.settled(10, 2 * HOUR);
        let young = place.settled(10, Duration::ZERO);
        let (live, _files) = place.live();
        let removed =
            place.vault.cleanup(Retention { older_than_ms: Some(3_600_000), ..Retention::default() });
        assert_eq!(removed.unwrap().ids, [old]);
        let mut left = [young, live];
        left.sort(); // within one millisecond ids are in no order
        assert_eq!(place.left(), left);
        assert_eq!(place.vault.cleanup(Retention::default()).unwrap().ids, []);
        let all = Retention { older_than_ms: Some(0), max_bytes: Some(0) };
        assert_eq!(place.vault.cleanup(all).unwrap().ids, [young]);
        assert_eq!(place.left(), [live]);
    }

    #[test]
    fn a_folder_goes_whatever_its_command_has_left_in_it() {
        let place = Place::new();
        let task = place.settled(1, HOUR);
        let mut at = File::open(place.dir.path().join(task.as_str())).unwrap();
        let name = c"twenty characters, no";
        for _ in 0..300 {
            nix::sys::stat::mkdirat(&at, name, nix::sys::stat::Mode::S_IRWXU).unwrap();
            let flags = nix::fcntl::OFlag::O_DIRECTORY;
            at = nix::fcntl::openat(&at, name, flags, nix::sys::stat::Mode::empty()).unwrap().into();
        }
        let all = Retention { max_bytes: Some(0), ..Retention::default() };
        assert_eq!(place.vault.cleanup(all).unwrap().ids, [task]);
        assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_oldest_go_until_the_rest_fits() {
        let place = Place::new();
        let [second, first, third] = [2, 3, 1].map(|hours| place.settled(1_000_000, hours * HOUR));
        let held = place.vault.census().unwrap().bytes;
        assert!(held >= 3_000_000);
        let most = Retention { max_bytes: Some(held - 1), ..Retention::default() };
        let removed = place.vault.cleanup(most).unwrap();
        assert_eq!(removed.ids, [first]);
        assert!(removed.freed_bytes >= 1_000_000);
        assert_eq!(removed.left_bytes, place.vault.census().unwrap().bytes);
        assert_eq!(place.left(), {
            let mut left = [second, third];
            left.sort();
            left
        });
    }

    #[test]
    fn those_nobody_has_go_and_those_being_made_stay() {
        let place = Place::new();
        let (abandoned, files) = place.live();
        drop(files);
        let made = TaskId::new().unwrap();
        std::fs::create_dir(place.dir.path().join(made.as_str())).unwrap();
        let all = Retention { max_bytes: Some(0), ..Retention::default() };
        assert_eq!(place.vault.cleanup(all).unwrap().ids, [abandoned]);
        assert_eq!(place.left(), [made]);
        let folder = File::open(place.dir.path().join(made.as_str())).unwrap();
        folder.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
        assert_eq!(place.vault.cleanup(all).unwrap().ids, [made]);
    }

    #[test]
    fn what_a_crash_left_is_finished() {
        let place = Place::new();
        let task = place.settled(5_000, HOUR);
        let trash = place.dir.path().join(format!("{TRASH}{task}"));
        std::fs::rename(place.dir.path().join(task.as_str()), &trash).unwrap();
        std::fs::remove_file(trash.join(layout::COMMAND)).unwrap();
        let fresh = place.dir.path().join(format!("{BANKING}{}", TaskId::new().unwrap()));
        let stale = place.dir.path().join(format!("{BANKING}{}", "0".repeat(26)));
        std::fs::create_dir(&fresh).unwrap();
        std::fs::create_dir(&stale).unwrap();
        let removed = place.vault.cleanup(Retention::default()).unwrap();
        assert!(removed.ids.is_empty() && removed.freed_bytes >= 5_000);
        assert!(!trash.exists() && !stale.exists() && fresh.exists());
    }
}
