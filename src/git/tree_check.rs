//! That nothing below `objects`, `refs` and `logs` is a link, a pipe or a device.
//!
//! A directory's own times change with every name in it that comes, goes or is replaced. So a directory that was
//! looked through is looked through again only when its stamp is another: a call costs one `lstat` a directory.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::files::{self, Stamp};
use crate::limits;
use crate::os::clock;

/// What was looked through before, and what was met in this call.
#[derive(Debug, Default)]
pub(crate) struct TreeCheck {
    known: HashMap<PathBuf, Known>,
    met: HashMap<PathBuf, Known>,
    entries: usize,
}

#[derive(Debug, Clone)]
struct Known {
    stamp: Stamp,
    entries: usize,
    below: Vec<PathBuf>,
}

impl TreeCheck {
    /// Looks through `top`, if it is there.
    pub(crate) fn look(&mut self, top: &Path) -> Result<(), GitError> {
        let mut open = vec![top.to_path_buf()];
        while let Some(dir) = open.pop() {
            // A git that works beside us makes directories and takes them away again.
            if files::lstat(&dir)?.is_none() {
                continue;
            }
            let stamp = Stamp::of(&files::directory(&dir)?);
            let known = match self.known.remove(&dir).filter(|known| known.stamp == stamp) {
                Some(known) => known,
                None => match self.read(&dir, stamp) {
                    Err(GitError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
                    read => read?,
                },
            };
            self.count(&dir, known.entries)?;
            open.extend(known.below.iter().cloned());
            self.met.insert(dir, known);
        }
        Ok(())
    }

    /// Ends a call: what was not met is forgotten, and so is what changed too recently to be sure of.
    pub(crate) fn finish(&mut self) {
        let now = i64::try_from(clock::epoch_ms() / 1000).unwrap_or(i64::MAX);
        self.known = std::mem::take(&mut self.met);
        self.known.retain(|_, known| !known.stamp.is_fresh(now));
        self.entries = 0;
    }

    /// Forgets a call that was refused half-way.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    fn read(&self, dir: &Path, stamp: Stamp) -> Result<Known, GitError> {
        let mut known = Known { stamp, entries: 0, below: Vec::new() };
        for entry in std::fs::read_dir(dir).map_err(|error| GitError::io(dir, error))? {
            let entry = entry.map_err(|error| GitError::io(dir, error))?;
            let kind = entry.file_type().map_err(|error| GitError::io(dir, error))?;
            known.entries += 1;
            if kind.is_dir() {
                known.below.push(entry.path());
            } else if !kind.is_file() {
                let problem = "it is neither a regular file nor a directory";
                return Err(GitError::layout(&entry.path(), problem));
            }
            if self.entries + known.entries > limits::GIT_MAX_LAYOUT_ENTRIES {
                return Err(too_many(dir));
            }
        }
        Ok(known)
    }

    fn count(&mut self, dir: &Path, entries: usize) -> Result<(), GitError> {
        self.entries += entries;
        if self.entries > limits::GIT_MAX_LAYOUT_ENTRIES { Err(too_many(dir)) } else { Ok(()) }
    }
}

fn too_many(dir: &Path) -> GitError {
    let most = limits::GIT_MAX_LAYOUT_ENTRIES;
    GitError::layout(
        dir,
        format!("there are more than {most} files and directories in it; git gc packs them"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_found_also_when_it_comes_after_a_clean_look() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        let mut check = TreeCheck::default();
        check.look(dir.path()).unwrap();
        check.finish();
        symlink("/etc/passwd", deep.join("link")).unwrap();
        assert_eq!(check.look(dir.path()).unwrap_err().code(), "ERR_GIT_LAYOUT");
    }

    #[test]
    fn what_is_not_there_is_fine() {
        assert!(TreeCheck::default().look(Path::new("/nonexistent/x")).is_ok());
    }
}
