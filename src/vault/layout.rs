//! The names inside a task's folder, and the writing of an outcome. The keeper and the warden link this, so it
//! stays free of everything that only readers need.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use serde::Deserialize;

use super::record::{CommandFile, Outcome};
use super::sweep;

/// What was started.
pub const COMMAND: &str = "command.json";
/// The outcome.
pub const RECORD: &str = "record.json";
/// The outcome to be: reserved blocks, and the lock that says "live". Renamed to [`RECORD`].
pub const PENDING: &str = "record.pending";
/// Standard output.
pub const STDOUT: &str = "stdout";
/// Standard error.
pub const STDERR: &str = "stderr";
/// Where the keeper listens while the command is live.
pub const CONTROL: &str = "control.sock";

/// The command's private temporary directory, where it is confined.
pub const TMP: &std::ffi::CStr = c"tmp";

/// What of `command.json` says what becomes of [`TMP`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keeps {
    #[serde(default)]
    keep_tmp: bool,
}

/// Whether there is a temporary directory that its command was not to keep.
pub fn owes_removal(folder: &impl AsFd) -> bool {
    let there =
        nix::sys::stat::fstatat(folder.as_fd(), TMP, nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW).is_ok();
    there
        && !open_own(folder, COMMAND).is_some_and(|file| {
            serde_json::from_reader(io::BufReader::new(file)).is_ok_and(|Keeps { keep_tmp }| keep_tmp)
        })
}

/// Removes the temporary directory, for as long as `ms` milliseconds; false when something of it stays.
pub fn remove_tmp(folder: &impl AsFd, ms: u64) -> bool {
    sweep::remove(folder, TMP, Instant::now() + Duration::from_millis(ms))
}

fn open_own(folder: &impl AsFd, name: &str) -> Option<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    Some(File::from(openat(folder.as_fd(), name, flags, Mode::empty()).ok()?))
}

/// Where the index of a stream is, once the stream is long enough to need one.
pub fn index_name(stream: &str) -> String {
    format!("{stream}.index")
}

/// Makes an index file with its header.
pub fn create_index(folder: &impl AsFd, name: &str) -> io::Result<File> {
    use std::io::Write as _;
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC | OFlag::O_APPEND;
    let mut file = File::from(openat(folder.as_fd(), name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
    file.write_all(&super::text::header())?;
    Ok(file)
}

/// Marks the reserved record: from here on a program may be running.
pub fn mark_started(pending: &File) -> io::Result<()> {
    pending.write_all_at(b"\n", 0)
}

/// Whether [`mark_started`] was called: if not, nothing ran.
pub fn is_marked_started(pending: &File) -> io::Result<bool> {
    Ok(pending.metadata()?.len() > 0)
}

/// Writes the outcome into the reserved blocks and gives it its name, which no reader has seen before: the new
/// name appears with the whole content or not at all. Reserved blocks that it doesn't fill stay its own: giving them
/// back takes longer than all the rest of a settling where the file system tells the disk of free blocks at once
/// (`discard` in `ext4(5)`).
pub fn store_outcome(folder: &impl AsFd, pending: &File, outcome: &Outcome, sync: bool) -> io::Result<()> {
    let bytes = serde_json::to_vec(outcome)?;
    pending.write_all_at(&bytes, 0)?;
    let length = bytes.len() as u64;
    // Longer only after a writer that was killed in the middle of a longer one.
    if pending.metadata()?.len() != length {
        pending.set_len(length)?;
    }
    if sync {
        pending.sync_all()?;
        sync_existing(folder, COMMAND)?;
    }
    nix::fcntl::renameat(folder.as_fd(), PENDING, folder.as_fd(), RECORD)?;
    if sync {
        nix::unistd::fsync(folder.as_fd())?;
        // The folder's own name stands in the vault's directory.
        sync_existing(folder, "..")?;
    }
    Ok(())
}

fn sync_existing(folder: &impl AsFd, name: &str) -> io::Result<()> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    match openat(folder.as_fd(), name, flags, Mode::empty()) {
        Ok(file) => Ok(nix::unistd::fsync(file)?),
        Err(nix::errno::Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The outcome that was stored, if one was.
pub fn stored_outcome(folder: &impl AsFd) -> Option<Outcome> {
    serde_json::from_slice(&io::read_to_string(open_own(folder, RECORD)?).ok()?.into_bytes()).ok()
}

/// Says anew what was started: for a command whose turn came later than its folder. The old text stays whole until
/// the new one is.
pub fn replace_command(folder: &impl AsFd, command: &CommandFile) -> io::Result<()> {
    use std::io::Write as _;
    const NEW: &str = "command.new";
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    let mut file = File::from(openat(folder.as_fd(), NEW, flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
    file.write_all(&serde_json::to_vec(command)?)?;
    Ok(nix::fcntl::renameat(folder.as_fd(), NEW, folder.as_fd(), COMMAND)?)
}

/// The size of a file in a task's folder; 0 where it can't be told.
pub fn size_of(folder: &impl AsFd, name: &str) -> u64 {
    let flags = nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW;
    nix::sys::stat::fstatat(folder.as_fd(), name, flags)
        .map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
}

/// The task that a folder belongs to: its name.
pub fn task_of(folder: &impl AsRawFd) -> String {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::record::Cause;
    use super::*;

    #[test]
    fn a_temporary_directory_is_owed_removal_unless_its_command_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        assert!(!owes_removal(&folder), "there is none");
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        for (command, owed) in [("", true), ("{}", true), (r#"{"keepTmp":true}"#, false)] {
            std::fs::write(dir.path().join(COMMAND), command).unwrap();
            assert_eq!(owes_removal(&folder), owed, "{command}");
        }
        assert!(remove_tmp(&folder, 10_000) && !owes_removal(&folder));
    }

    #[test]
    fn an_outcome_replaces_the_mark_and_takes_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        let pending = File::create_new(dir.path().join(PENDING)).unwrap();
        assert!(!is_marked_started(&pending).unwrap());
        mark_started(&pending).unwrap();
        assert!(is_marked_started(&pending).unwrap());
        let outcome = Outcome::bare(Cause::Kill, "was killed with SIGTERM");
        store_outcome(&folder, &pending, &outcome, true).unwrap();
        let text = std::fs::read(dir.path().join(RECORD)).unwrap();
        assert_eq!(serde_json::from_slice::<Outcome>(&text).unwrap(), outcome);
        assert!(!dir.path().join(PENDING).exists());
    }

    #[test]
    fn what_a_longer_text_left_is_no_part_of_the_outcome_and_the_reserve_stays() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        let pending = File::create_new(dir.path().join(PENDING)).unwrap();
        crate::os::file::reserve(&pending, crate::limits::RECORD_RESERVED_BYTES).unwrap();
        let reserved = pending.metadata().unwrap().blocks();
        pending.write_all_at(&[b'x'; 2000], 0).unwrap();
        let outcome = Outcome::bare(Cause::Kill, "was killed with SIGTERM");
        store_outcome(&folder, &pending, &outcome, false).unwrap();
        assert_eq!(stored_outcome(&folder), Some(outcome));

        let other = tempfile::tempdir().unwrap();
        let folder = File::open(other.path()).unwrap();
        let pending = File::create_new(other.path().join(PENDING)).unwrap();
        crate::os::file::reserve(&pending, crate::limits::RECORD_RESERVED_BYTES).unwrap();
        mark_started(&pending).unwrap();
        store_outcome(&folder, &pending, &Outcome::bare(Cause::Kill, "x"), false).unwrap();
        assert!(pending.metadata().unwrap().blocks() >= reserved);
    }
}
