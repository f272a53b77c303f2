//! What the vault holds: its tasks and artifacts, what each takes of the disk, and since when it is over.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::bank;
use super::error::VaultError;
use super::id::TaskId;
use super::layout;
use super::store::{Vault, existing, is_locked, is_own, read_error};
use crate::limits;
use crate::os::clock::epoch_ms;

/// What the name of a folder begins with while it is being removed.
pub(super) const TRASH: &str = ".trash-";

/// The name under which the folder of a task is removed.
pub(super) fn trash_of(task: &TaskId) -> String {
    format!("{TRASH}{task}")
}

/// One task or banked artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: TaskId,
    /// What it takes of the disk, in bytes of blocks.
    pub bytes: u64,
    /// Since when it is over, in milliseconds since the epoch; `None` while it is live, or may be.
    pub over_since: Option<u64>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Census {
    /// What the vault takes of the disk, everything included.
    pub bytes: u64,
    /// Tasks and artifacts, in no order.
    pub entries: Vec<Entry>,
}

/// A file or folder, looked at.
struct Sight {
    bytes: u64,
    changed: u64,
}

impl Vault {
    /// The ids of all that has a folder here, the newest first.
    pub fn ids(&self) -> Result<Vec<TaskId>, VaultError> {
        let mut ids = Vec::new();
        for name in self.names()? {
            ids.extend(TaskId::parse(&name));
        }
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// Every name in the vault's directory.
    pub(super) fn names(&self) -> Result<Vec<String>, VaultError> {
        let unreadable = |source| read_error("The vault's directory", source);
        let entries = std::fs::read_dir(self.inside("")).map_err(unreadable)?;
        entries
            .map(|entry| Ok(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    /// Looks at everything. What vanishes meanwhile, or can't be looked at, is left out.
    pub fn census(&self) -> Result<Census, VaultError> {
        let mut census = Census::default();
        for name in self.names()? {
            match TaskId::parse(&name) {
                Some(id) => {
                    let Some(entry) = self.entry(id) else { continue };
                    census.bytes += entry.bytes;
                    census.entries.push(entry);
                }
                None => census.bytes += disk_bytes(&self.inside(&name)),
            }
        }
        Ok(census)
    }

    fn entry(&self, id: TaskId) -> Option<Entry> {
        let folder = self.folder(&id).ok()?;
        let own = sight(&std::fs::metadata(of(&folder)).ok()?);
        let mut entry = Entry { id, bytes: own.bytes, over_since: None };
        let (mut over, mut pending, mut began) = (None, None, false);
        for file in std::fs::read_dir(of(&folder)).ok()?.flatten() {
            let Ok(meta) = file.metadata() else { continue };
            let seen = sight(&meta);
            entry.bytes += seen.bytes;
            match file.file_name().to_str() {
                Some(layout::RECORD | bank::ARTIFACT) => over = Some(seen.changed),
                Some(layout::PENDING) => pending = Some(seen.changed),
                Some(layout::COMMAND) => began = true,
                _ => {}
            }
        }
        // One without `command.json` may be about to get it: its record may not even be locked yet.
        let unfinished = epoch_ms().saturating_sub(own.changed) < limits::UNFINISHED_AFTER_MS;
        if over.is_none() && (began || !unfinished) {
            over = is_nobodys(&folder).then_some(pending.unwrap_or(own.changed));
        }
        entry.over_since = over;
        Some(entry)
    }
}

/// Whether nobody has the task of a folder without a record.
fn is_nobodys(folder: &OwnedFd) -> bool {
    match existing(folder, layout::PENDING) {
        Ok(pending) => !is_locked(&pending).unwrap_or(true),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The folder by its descriptor.
fn of(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}/", folder.as_raw_fd())
}

fn sight(meta: &std::fs::Metadata) -> Sight {
    const BLOCK: u64 = 512; // st_blocks counts these whatever the file system's own are (stat(3type))
    let seconds = u64::try_from(meta.mtime()).unwrap_or(0);
    let changed = seconds * 1000 + u64::try_from(meta.mtime_nsec()).unwrap_or(0) / 1_000_000;
    Sight { bytes: meta.blocks() * BLOCK, changed }
}

/// What a file, or a folder with what is in it, takes of the disk; links are not followed.
pub(super) fn disk_bytes(path: &Path) -> u64 {
    disk_bytes_to(path, DEPTH)
}

/// Each level takes a descriptor, and a command decides how many there are in its temporary directory.
const DEPTH: usize = 16;

fn disk_bytes_to(path: &Path, depth: usize) -> u64 {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return 0 };
    let mut bytes = sight(&meta).bytes;
    if depth > 0 && meta.is_dir() && is_own(meta.uid()) {
        let below = std::fs::read_dir(path).into_iter().flatten().flatten();
        bytes += below.map(|entry| disk_bytes_to(&entry.path(), depth - 1)).sum::<u64>();
    }
    bytes
}
