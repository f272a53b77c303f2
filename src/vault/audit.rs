//! The audit trail: one JSON line in `audit.ndjson` for each start and each refusal, appended whole, never rewritten.
//!
//! A file that has grown past its bound is renamed to `audit-<milliseconds>.ndjson` and kept. Several processes may
//! append to one trail; each line is one `write(2)` with `O_APPEND`.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::limits;
use crate::os::{clock, file};

const NAME: &str = "audit.ndjson";

/// One line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    /// When, in milliseconds since the epoch.
    pub time: u64,
    /// `started`, `start-failed` or `refused`.
    pub event: &'a str,
    /// The code of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'a str>,
    /// The task, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<&'a str>,
    /// The digest of the policy that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<&'a str>,
    /// argv as asked for, cut to a bounded length.
    pub argv: Vec<String>,
    /// The working directory: as resolved for a start, as given for a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// The file that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<&'a str>,
    /// Which file that was: device, inode, size and times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<crate::program::FileIdentity>,
    /// What the kernel confines it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confinement: Option<crate::confinement::Confined>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
    /// The process that asked.
    pub host_pid: u32,
}

/// The trail of one vault.
#[derive(Debug)]
pub struct Audit {
    directory: std::path::PathBuf,
    trail: Mutex<Trail>,
}

#[derive(Debug, Default)]
struct Trail {
    file: Option<File>,
    /// The last line was cut by a full disk: the next one begins on a line of its own.
    torn: bool,
}

impl Audit {
    /// In the vault at `directory`. Nothing is opened yet.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), trail: Mutex::default() }
    }

    /// Appends one line.
    pub fn append(&self, entry: &Entry<'_>) -> io::Result<()> {
        let mut trail = self.trail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = if trail.torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut line, entry)?;
        line.push(b'\n');
        let mut file = match trail.file.take() {
            Some(file) if file.metadata()?.size() < limits::AUDIT_FILE_BYTES => file,
            grown => self.next_file(grown.as_ref())?,
        };
        let written = file.write(&line)?;
        *trail = Trail { file: Some(file), torn: written < line.len() };
        if trail.torn { Err(io::Error::from_raw_os_error(libc::ENOSPC)) } else { Ok(()) }
    }

    /// The file to append to, after one that has grown too large was set aside: by this process or by another.
    fn next_file(&self, grown: Option<&File>) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = self.directory.join(NAME);
        if let Some(grown) = grown
            && file::try_lock(grown)?
            && std::fs::metadata(&path)
                .is_ok_and(|now| grown.metadata().is_ok_and(|own| own.ino() == now.ino()))
        {
            std::fs::rename(&path, self.directory.join(format!("audit-{}.ndjson", clock::epoch_ms())))?;
        }
        let flags = libc::O_NOFOLLOW;
        File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(path)
    }
}

/// argv for an entry: what a person needs to tell one command from another, whatever was asked for.
pub fn bounded_argv<'a>(argv: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut room = limits::AUDIT_ARGV_CHARS;
    let mut kept = Vec::new();
    for text in argv {
        if room == 0 {
            kept.push("…".into());
            break;
        }
        let cut: String = text.chars().take(room).collect();
        room -= cut.chars().count();
        kept.push(if cut.len() < text.len() { format!("{cut}…") } else { cut });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time: u64) -> Entry<'static> {
        Entry {
            time,
            event: "refused",
            code: Some("ERR_BAD_ARGV"),
            task_id: None,
            policy: None,
            argv: vec!["x".repeat(1000)],
            cwd: None,
            executable: None,
            identity: None,
            confinement: None,
            session_id: None,
            host_pid: 1,
        }
    }

    #[test]
    fn lines_are_whole_in_order_and_survive_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Audit::new(dir.path()), Audit::new(dir.path()));
        let lines = limits::AUDIT_FILE_BYTES / 1000 + 10;
        for time in 0..lines {
            let trail = if time % 2 == 0 { &first } else { &second };
            trail.append(&entry(time)).unwrap();
        }
        let mut seen = Vec::new();
        for file in std::fs::read_dir(dir.path()).unwrap() {
            let file = file.unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
            for line in std::fs::read_to_string(file.path()).unwrap().lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                seen.push(value["time"].as_u64().unwrap());
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..lines).collect::<Vec<_>>());
    }

    #[test]
    fn an_argv_of_any_size_makes_a_bounded_line() {
        let long = "é".repeat(limits::AUDIT_ARGV_CHARS * 2);
        let kept = bounded_argv(["git", &long, "more", "and more"].into_iter());
        assert_eq!(kept.len(), 3);
        assert!(kept.iter().map(|text| text.chars().count()).sum::<usize>() <= limits::AUDIT_ARGV_CHARS + 2);
    }
}
