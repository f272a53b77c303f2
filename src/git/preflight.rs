//! Where the git directory really is, and whether it is built as git builds it. All of it by `lstat`, before any
//! git process, on every call: the repository changes between calls.
//!
//! A change after the look is not seen here. What git then opens is bounded by the shadow (it names the places) and,
//! where the kernel has it, by confinement.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::files;
use super::options::GitOptions;
use super::tree_check::TreeCheck;
use crate::limits;

/// How the git directory belongs to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `root/.git` is the directory.
    Plain,
    /// `root/.git` is a file, and the directory names it: `git worktree add`.
    Worktree,
    /// `root/.git` is a file, and the directory's `core.worktree` must name the root: a submodule. The
    /// configuration has not been read yet; whoever reads it checks.
    Module,
    /// The root is the directory.
    Bare,
}

/// A git directory that was looked over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The root without symbolic links.
    pub(crate) root: PathBuf,
    /// Of this working tree: `HEAD`, `index`.
    pub(crate) git_dir: PathBuf,
    /// Shared between working trees: `config`, `objects`, `refs`. The same as `git_dir` but in a linked one.
    pub(crate) common_dir: PathBuf,
    pub(crate) kind: Kind,
    /// Object directories that it borrows from, each allowed by the host.
    pub(crate) alternates: Vec<PathBuf>,
}

impl Layout {
    /// Looks the repository over.
    pub(crate) fn inspect(options: &GitOptions, checked: &mut TreeCheck) -> Result<Self, GitError> {
        let named = &options.repo_root;
        let no_repository =
            |problem| GitError::NoRepository { root: named.to_string_lossy().into_owned(), problem };
        let root = named.canonicalize().map_err(|_| no_repository("the directory does not exist"))?;
        if root.to_str().is_none() {
            return Err(GitError::layout(&root, "its name is not UTF-8"));
        }
        let dot_git = root.join(".git");
        let mut layout = match files::lstat(&dot_git)? {
            Some(meta) if meta.is_dir() => Self::whole(root, dot_git, Kind::Plain),
            Some(meta) if meta.is_file() => Self::linked(root, &dot_git)?,
            Some(meta) => {
                let kind = files::kind(&meta);
                return Err(GitError::layout(&dot_git, format!("it is {kind}, not a directory or a file")));
            }
            None if looks_bare(&root) && options.bare => Self::whole(root.clone(), root, Kind::Bare),
            None if looks_bare(&root) => {
                return Err(GitError::layout(&root, "it is a bare repository, and `bare` is not set"));
            }
            None => return Err(no_repository("it holds no .git")),
        };
        layout.check(options, checked)?;
        Ok(layout)
    }

    fn whole(root: PathBuf, git_dir: PathBuf, kind: Kind) -> Self {
        Self { root, common_dir: git_dir.clone(), git_dir, kind, alternates: Vec::new() }
    }

    /// Follows a `.git` file. Whoever can write the checkout can write this file, so it is believed only when the
    /// directory that it names points back at it: that takes somebody who owns the directory already.
    fn linked(root: PathBuf, dot_git: &Path) -> Result<Self, GitError> {
        let line = files::line(dot_git, limits::GIT_MAX_LINE_FILE_BYTES)?.unwrap_or_default();
        let Some(target) = line.strip_prefix("gitdir: ") else {
            return Err(GitError::layout(dot_git, "it is a file that names no git directory"));
        };
        let git_dir = real(&root.join(target), dot_git)?;
        if git_dir.to_str().is_none() {
            return Err(GitError::layout(dot_git, "the directory that it names is not UTF-8"));
        }
        let common = git_dir.join("commondir");
        let Some(shared) = files::line(&common, limits::GIT_MAX_LINE_FILE_BYTES)? else {
            return Ok(Self::whole(root, git_dir, Kind::Module));
        };
        let back = git_dir.join("gitdir");
        let points_back = files::line(&back, limits::GIT_MAX_LINE_FILE_BYTES)?.is_some_and(|line| {
            let named = git_dir.join(line);
            let home = named.parent().and_then(|parent| parent.canonicalize().ok());
            named.file_name() == dot_git.file_name() && home.as_deref() == dot_git.parent()
        });
        if !points_back {
            return Err(GitError::layout(dot_git, "the directory that it names does not point back at it"));
        }
        let common_dir = real(&git_dir.join(shared), &common)?;
        if git_dir.parent() != Some(common_dir.join("worktrees").as_path()) {
            return Err(GitError::layout(&common, "it leads out of the repository"));
        }
        Ok(Self { root, git_dir, common_dir, kind: Kind::Worktree, alternates: Vec::new() })
    }

    /// Whether `core.worktree` of the repository's own configuration leads back to the root.
    pub(crate) fn module_points_back(&self, worktree: Option<&str>) -> Result<(), GitError> {
        let named = worktree.and_then(|named| self.git_dir.join(named).canonicalize().ok());
        if self.kind != Kind::Module || named.as_ref() == Some(&self.root) {
            return Ok(());
        }
        let problem = "the directory that it names does not point back at it";
        Err(GitError::layout(&self.root.join(".git"), problem))
    }

    fn check(&mut self, options: &GitOptions, checked: &mut TreeCheck) -> Result<(), GitError> {
        for dir in [&self.root, &self.git_dir, &self.common_dir] {
            let meta = files::directory(dir)?;
            if !options.trust_owner {
                owned(dir, &meta)?;
            }
        }
        if self.kind != Kind::Worktree && files::lstat(&self.git_dir.join("commondir"))?.is_some() {
            return Err(GitError::layout(&self.git_dir.join("commondir"), "it leads out of the repository"));
        }
        for name in ["HEAD", "index"] {
            let path = self.git_dir.join(name);
            if files::regular_or_absent(&path)? && !options.trust_owner {
                owned(&path, &path.symlink_metadata().map_err(|error| GitError::io(&path, error))?)?;
            }
        }
        for name in ["config", "packed-refs", "shallow"] {
            let path = self.common_dir.join(name);
            if files::regular_or_absent(&path)? && !options.trust_owner {
                owned(&path, &path.symlink_metadata().map_err(|error| GitError::io(&path, error))?)?;
            }
        }
        self.check_head()?;
        let objects = self.common_dir.join("objects");
        files::directory(&objects)?;
        files::directory(&self.common_dir.join("refs"))?;
        self.alternates = allowed_alternates(&objects, options)?;
        for tree in ["objects", "refs", "logs", "reftable"] {
            checked.look(&self.common_dir.join(tree))?;
        }
        if self.git_dir != self.common_dir {
            for tree in ["refs", "logs", "reftable"] {
                checked.look(&self.git_dir.join(tree))?;
            }
        }
        checked.finish();
        Ok(())
    }

    fn check_head(&self) -> Result<(), GitError> {
        let path = self.git_dir.join("HEAD");
        let head = files::line(&path, limits::GIT_MAX_LINE_FILE_BYTES)?
            .ok_or_else(|| GitError::layout(&path, "it is missing"))?;
        let is_ref = head.strip_prefix("ref:").map(str::trim_start).is_some_and(|name| {
            name.starts_with("refs/")
                && !name.contains(|c: char| c.is_control() || c.is_whitespace())
                && !name.split('/').any(|part| part.is_empty() || part == "..")
        });
        let is_id = super::revision::object_id(head.as_bytes()).is_some();
        if is_ref || is_id { Ok(()) } else { Err(GitError::layout(&path, "it names no branch or commit")) }
    }
}

/// Every object directory that git would borrow from, through all levels, is one that the host listed.
fn allowed_alternates(objects: &Path, options: &GitOptions) -> Result<Vec<PathBuf>, GitError> {
    let allowed: Vec<_> =
        options.allow_alternates.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut seen = vec![objects.to_path_buf()];
    let mut at = 0;
    while let Some(store) = seen.get(at).cloned() {
        at += 1;
        let over_http = store.join("info/http-alternates");
        if files::lstat(&over_http)?.is_some() {
            return Err(GitError::layout(&over_http, "it leads out of the repository"));
        }
        let list = store.join("info/alternates");
        let Some(text) = files::line(&list, limits::GIT_MAX_LINE_FILE_BYTES)? else { continue };
        for entry in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let real = store.join(entry).canonicalize().ok().filter(|real| allowed.contains(real));
            let Some(real) = real.filter(|_| !entry.starts_with('"')) else {
                return Err(GitError::layout(&list, "it leads out of the repository"));
            };
            if !seen.contains(&real) {
                seen.push(real);
            }
        }
    }
    Ok(seen.split_off(1))
}

fn real(path: &Path, named_by: &Path) -> Result<PathBuf, GitError> {
    path.canonicalize().map_err(|_| GitError::layout(named_by, "the directory that it names does not exist"))
}

fn looks_bare(root: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| root.join(name).symlink_metadata().is_ok())
}

/// An explicit git directory switches git's own owner check off, so it is made here.
fn owned(path: &Path, meta: &Metadata) -> Result<(), GitError> {
    let own = nix::unistd::geteuid().as_raw();
    match meta.uid() {
        0 => Ok(()),
        owner if owner == own => Ok(()),
        owner => Err(GitError::Owner { path: path.to_string_lossy().into_owned(), owner, own }),
    }
}
