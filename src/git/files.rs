//! Opening what a hostile repository may have put there: never a link, never a pipe, never more than a bound.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::error::GitError;

/// What says that a file is still the one that was looked at. `ctime` can't be set back (`utimensat(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether the last change is so recent that a further one might not show: clocks of file systems tick coarsely.
    pub(crate) fn is_fresh(&self, now: i64) -> bool {
        self.changed.0 + 2 >= now
    }
}

/// `lstat`; `None` where there is nothing.
pub(crate) fn lstat(path: &Path) -> Result<Option<Metadata>, GitError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => Ok(None),
        Err(error) => Err(GitError::io(path, error)),
    }
}

/// Refuses anything but a regular file. `false` where there is nothing.
pub(crate) fn regular_or_absent(path: &Path) -> Result<bool, GitError> {
    match lstat(path)? {
        None => Ok(false),
        Some(meta) if meta.is_file() => Ok(true),
        Some(meta) => Err(GitError::layout(path, format!("it is {}, not a regular file", kind(&meta)))),
    }
}

/// Refuses anything but a directory.
pub(crate) fn directory(path: &Path) -> Result<Metadata, GitError> {
    match lstat(path)? {
        None => Err(GitError::layout(path, "it is missing")),
        Some(meta) if meta.is_dir() => Ok(meta),
        Some(meta) => Err(GitError::layout(path, format!("it is {}, not a directory", kind(&meta)))),
    }
}

/// A file's kind, for a message.
pub(crate) fn kind(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_file() => "a regular file",
        () => "a pipe, socket or device",
    }
}

/// Opens a regular file of at most `most` bytes; `None` where there is nothing. `O_NONBLOCK` keeps a pipe that was
/// swapped in from holding the call.
pub(crate) fn open(path: &Path, most: u64) -> Result<Option<File>, GitError> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) => {
            return match error.raw_os_error() {
                Some(libc::ENOENT) => Ok(None),
                Some(libc::ELOOP) => Err(GitError::layout(path, "it is a symbolic link, not a regular file")),
                Some(libc::ENXIO) => Err(GitError::layout(path, "it is a pipe, socket or device")),
                _ => Err(GitError::io(path, error)),
            };
        }
    };
    let meta = file.metadata().map_err(|error| GitError::io(path, error))?;
    if !meta.is_file() {
        return Err(GitError::layout(path, format!("it is {}, not a regular file", kind(&meta))));
    }
    if meta.len() > most {
        return Err(GitError::layout(path, format!("it has more than {most} bytes")));
    }
    Ok(Some(file))
}

/// The content of a short file, without the newlines at its end; `None` where there is nothing.
pub(crate) fn line(path: &Path, most: u64) -> Result<Option<String>, GitError> {
    let Some(file) = open(path, most)? else { return Ok(None) };
    let mut text = String::new();
    match file.take(most).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(GitError::layout(path, "it is not UTF-8 text"))
        }
        Err(error) => Err(GitError::io(path, error)),
    }
}

/// Copies a regular file of at most `most` bytes, if it is there, with its time of change: git takes a file that was
/// changed no later than its index for one to look into, and a younger copy of the index would hide such changes.
pub(crate) fn copy(from: &Path, to: &Path, most: u64) -> Result<bool, GitError> {
    let Some(source) = open(from, most)? else { return Ok(false) };
    let mut target = OpenOptions::new();
    target.write(true).create_new(true).mode(0o600);
    let mut target = target.open(to).map_err(|error| GitError::io(to, error))?;
    let modified =
        source.metadata().and_then(|meta| meta.modified()).map_err(|error| GitError::io(from, error))?;
    io::copy(&mut source.take(most), &mut target).map_err(|error| GitError::io(to, error))?;
    target.set_modified(modified).map_err(|error| GitError::io(to, error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_pipes_and_large_files_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text\n").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(line(&at("file"), 10).unwrap().as_deref(), Some("text"));
        assert_eq!(line(&at("absent"), 10).unwrap(), None);
        for (name, most) in [("link", 10), ("pipe", 10), ("file", 2)] {
            assert_eq!(open(&at(name), most).unwrap_err().code(), "ERR_GIT_LAYOUT", "{name}");
        }
        for name in ["link", "pipe"] {
            assert_eq!(regular_or_absent(&at(name)).unwrap_err().code(), "ERR_GIT_LAYOUT", "{name}");
        }
    }
}
