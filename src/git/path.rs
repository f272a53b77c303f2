//! Paths as a model gives them, made relative to the repository.
//!
//! A path may name what no longer exists, or what only a commit has. So it is settled by its text, and the part of
//! it that does exist is followed to see that it stays inside.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use crate::limits;

/// Where paths are looked at.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// The repository's root, without symbolic links.
    pub(crate) root: PathBuf,
    /// The root as the host named it.
    pub(crate) named_root: PathBuf,
    /// Whether there is no working tree.
    pub(crate) bare: bool,
}

impl Scope {
    /// The path that `text` names, relative to the root with `/` between its parts; `None` for the root itself.
    pub(crate) fn confine(&self, text: &str) -> Result<Option<String>, GitError> {
        let refuse = |rule| Err(GitError::BadPath { path: text.to_owned(), rule });
        if text.starts_with('-') {
            return refuse("must not start with \"-\"; put ./ before it");
        }
        if text.is_empty() || text.len() > limits::GIT_MAX_PATH_BYTES || text.contains('\0') {
            return refuse("must be a non-empty string of at most 4095 bytes without NUL");
        }
        let given = Path::new(text);
        let inside = match given.strip_prefix(&self.root).or_else(|_| given.strip_prefix(&self.named_root)) {
            Ok(inside) => inside,
            Err(_) if given.is_absolute() => return Err(self.outside(text, given)),
            Err(_) => given,
        };
        let mut parts: Vec<&OsStr> = Vec::new();
        for component in inside.components() {
            match component {
                Component::Normal(part) if part.eq_ignore_ascii_case(".git") => {
                    return refuse("must not name a git directory");
                }
                Component::Normal(part) => parts.push(part),
                Component::CurDir => {}
                Component::ParentDir if parts.pop().is_some() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(self.outside(text, &self.root.join(inside)));
                }
            }
        }
        let relative: PathBuf = parts.iter().collect();
        self.check_parents(text, &relative)?;
        let path = relative.to_string_lossy().into_owned();
        Ok((!path.is_empty()).then_some(path))
    }

    /// The nearest parent that exists lies inside: a link in the checkout may lead anywhere. The last part is not
    /// followed; git never does.
    fn check_parents(&self, text: &str, relative: &Path) -> Result<(), GitError> {
        if self.bare {
            return Ok(());
        }
        for parent in relative.ancestors().skip(1) {
            if let Ok(real) = self.root.join(parent).canonicalize() {
                return if real.starts_with(&self.root) { Ok(()) } else { Err(self.outside(text, &real)) };
            }
        }
        Ok(())
    }

    fn outside(&self, text: &str, resolved: &Path) -> GitError {
        GitError::PathOutside {
            path: text.to_owned(),
            resolved: resolved.to_string_lossy().into_owned(),
            root: self.root.to_string_lossy().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(dir: &tempfile::TempDir) -> Scope {
        let root = dir.path().canonicalize().unwrap();
        Scope { named_root: root.clone(), root, bare: false }
    }

    #[test]
    fn paths_are_settled_by_their_text_and_may_be_gone() {
        let dir = tempfile::tempdir().unwrap();
        let scope = scope(&dir);
        let absolute = scope.root.join("a/b");
        for (given, expected) in [
            ("a/b", Some("a/b")),
            ("./a//b/", Some("a/b")),
            ("a/x/../b", Some("a/b")),
            (absolute.to_str().unwrap(), Some("a/b")),
            (".", None),
            ("a/..", None),
            ("./-x", Some("-x")),
            (":(glob)**", Some(":(glob)**")),
            ("a\nb", Some("a\nb")),
        ] {
            assert_eq!(scope.confine(given).unwrap().as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn what_leads_out_or_into_a_git_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let scope = scope(&dir);
        std::os::unix::fs::symlink("/etc", scope.root.join("out")).unwrap();
        for given in ["..", "a/../../x", "/etc/passwd", "out/passwd", "out/a/b", "/"] {
            let error = scope.confine(given).unwrap_err();
            assert!(error.to_string().contains("outside the permitted root"), "{given}: {error}");
        }
        for given in ["", "-x", ".git/config", "sub/.GIT/x", "a\0b"] {
            assert!(matches!(scope.confine(given), Err(GitError::BadPath { .. })), "{given}");
        }
        assert_eq!(scope.confine("out").unwrap().as_deref(), Some("out"), "the link itself is tracked");
    }
}
