//! The host's PATH as it was when the policy was set.

use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;

use crate::os::path;

/// The absolute entries, in order. An empty entry means the current directory (`environ(7)`) and a relative one
/// depends on it: both would let a workspace plant a program, so neither is searched.
#[derive(Debug, Clone)]
pub(super) struct SearchPath {
    dirs: Vec<PathBuf>,
}

/// A name that no entry answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotFound {
    /// The first file of that name that can't be executed.
    pub(super) passed_over: Option<PathBuf>,
}

impl SearchPath {
    /// Reads a PATH. Without one nothing is searched: `execvp(3)`'s built-in default is not the host's word.
    pub(super) fn of(host_path: Option<&str>) -> Self {
        let dirs = host_path.unwrap_or_default().split(':').map(PathBuf::from);
        Self { dirs: dirs.filter(|dir| dir.is_absolute()).collect() }
    }

    pub(super) fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// The first regular file of that name that this user may execute.
    pub(super) fn find(&self, name: &str) -> Result<PathBuf, NotFound> {
        let mut passed_over = None;
        for dir in &self.dirs {
            let candidate = dir.join(name);
            if is_executable_file(&candidate) {
                return Ok(candidate);
            }
            if passed_over.is_none() && std::fs::symlink_metadata(&candidate).is_ok() {
                passed_over = Some(candidate);
            }
        }
        Err(NotFound { passed_over })
    }
}

/// Whether `path` names a regular file with an execute bit for this user.
pub(super) fn is_executable_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file()) && path::may_execute_at(AT_FDCWD, path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_entries_of_path_are_searched() {
        for (given, expected) in [
            (None, vec![]),
            (Some(""), vec![]),
            (Some(":.:bin:/usr/bin::./x:/bin:"), vec!["/usr/bin", "/bin"]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(SearchPath::of(given).dirs(), expected, "{given:?}");
        }
    }
}
