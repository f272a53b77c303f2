//! A private git directory that stands for the repository's: git reads this one.
//!
//! `HEAD` and the index are copies (git rewrites an index that it refreshes, also through a link), references are
//! links to the real ones, objects are borrowed by path, and the configuration is ours. There are no hooks, no
//! attributes, no grafts. A linked working tree is stood for by two directories, as git itself has it.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use super::config::Settings;
use super::error::GitError;
use super::files::{self, Stamp};
use super::preflight::Layout;
use crate::limits;
use crate::os::{file, random};

const PREFIX: &str = "argvault-git-";
const LOCK: &str = "lock";
/// What is named beside `HEAD` and copied like it: where operations came from and go to.
const POINTERS: [&str; 7] =
    ["HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

/// A 0700 directory of our own that is removed with its owner. Its lock tells a later host that it is in use.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one below `parent`, which must not lie in the repository: whoever writes there could write here.
    pub(crate) fn new(parent: &Path, root: &Path) -> Result<Self, GitError> {
        let parent = parent.canonicalize().map_err(|error| GitError::io(parent, error))?;
        if parent.starts_with(root) {
            return Err(GitError::layout(&parent, "the scratch directory lies inside the repository"));
        }
        if parent.to_str().is_none() {
            return Err(GitError::layout(&parent, "its name is not UTF-8"));
        }
        let token = random::random::<16>().map_err(|error| GitError::io(&parent, error))?;
        let path = parent.join(format!("{PREFIX}{:032x}", u128::from_be_bytes(token)));
        private(&path)?;
        let lock = path.join(LOCK);
        let held = File::create_new(&lock).map_err(|error| GitError::io(&lock, error))?;
        let _ = file::try_lock(&held);
        let scratch = Self { path, _lock: held };
        private(&scratch.home())?;
        Ok(scratch)
    }

    /// An empty home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes what hosts that were killed have left below `parent`: directories of this user that nobody holds.
pub(crate) fn sweep(parent: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    // One that is just being made has no lock yet.
    let settled = std::time::SystemTime::now() - std::time::Duration::from_millis(limits::GIT_SWEEP_AFTER_MS);
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && path.symlink_metadata().is_ok_and(|meta| {
                meta.is_dir() && meta.uid() == own && meta.modified().is_ok_and(|at| at < settled)
            });
        let lock = path.join(LOCK);
        if ours
            && let Ok(Some(lock)) = files::open(&lock, limits::GIT_MAX_LINE_FILE_BYTES)
            && file::try_lock(&lock).unwrap_or(false)
        {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// What the shadow was made from. While it is the same, the shadow serves on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Print {
    layout: Layout,
    base: Vec<(String, Option<Stamp>)>,
    present: Vec<(PathBuf, bool)>,
    index: Option<Vec<(String, Stamp)>>,
}

impl Print {
    /// Stamps the repository. The index is stamped only when it is asked for: it changes more often than the rest,
    /// and history doesn't need it.
    pub(crate) fn take(layout: &Layout, with_index: bool) -> Result<Self, GitError> {
        let stamp = |path: &Path| Ok::<_, GitError>(files::lstat(path)?.map(|meta| Stamp::of(&meta)));
        let mut base = Vec::new();
        for name in POINTERS {
            base.push((name.to_owned(), stamp(&layout.git_dir.join(name))?));
        }
        base.push(("config".into(), stamp(&layout.common_dir.join("config"))?));
        let mut present = Vec::new();
        for dir in [&layout.git_dir, &layout.common_dir] {
            for name in ["refs", "packed-refs", "logs", "shallow", "reftable"] {
                let path = dir.join(name);
                let there = files::lstat(&path)?.is_some();
                present.push((path, there));
            }
        }
        let index = if with_index { Some(index_files(layout)?) } else { None };
        Ok(Self { layout: layout.clone(), base, present, index })
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether a shadow made from `made` serves a call that found `self`.
    pub(crate) fn is_served_by(&self, made: &Self) -> bool {
        let same = (&self.layout, &self.base, &self.present) == (&made.layout, &made.base, &made.present);
        same && (self.index.is_none() || self.index == made.index)
    }
}

fn index_files(layout: &Layout) -> Result<Vec<(String, Stamp)>, GitError> {
    let mut found = Vec::new();
    let listing = std::fs::read_dir(&layout.git_dir).map_err(|error| GitError::io(&layout.git_dir, error))?;
    for entry in listing {
        let entry = entry.map_err(|error| GitError::io(&layout.git_dir, error))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name == "index" || name.starts_with("sharedindex.") {
            files::regular_or_absent(&entry.path())?;
            if let Some(meta) = files::lstat(&entry.path())? {
                found.push((name, Stamp::of(&meta)));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The private git directory.
#[derive(Debug)]
pub(crate) struct Shadow {
    scratch: Scratch,
    print: Print,
    settings: Settings,
}

impl Shadow {
    /// Fills `scratch` with what stands for the repository that `print` was taken of.
    pub(crate) fn build(scratch: Scratch, print: Print, settings: Settings) -> Result<Self, GitError> {
        let layout = &print.layout;
        layout.module_points_back(settings.worktree.as_deref())?;
        let git = scratch.at("git");
        private(&git)?;
        let common = if layout.git_dir == layout.common_dir {
            git.clone()
        } else {
            let common = scratch.at("common");
            private(&common)?;
            write(&git.join("commondir"), "../common\n")?;
            write(&common.join("HEAD"), "ref: refs/heads/none\n")?;
            common
        };
        for name in POINTERS {
            let path = layout.git_dir.join(name);
            let fits = files::lstat(&path)?.is_some_and(|meta| meta.len() <= limits::GIT_MAX_CONFIG_BYTES);
            if files::regular_or_absent(&path)? && fits {
                files::copy(&path, &git.join(name), limits::GIT_MAX_CONFIG_BYTES)?;
            }
        }
        for (name, _) in print.index.iter().flatten() {
            files::copy(&layout.git_dir.join(name), &git.join(name), limits::GIT_MAX_INDEX_BYTES)?;
        }
        write(&common.join("config"), &settings.render())?;
        let objects = common.join("objects");
        for dir in [objects.clone(), objects.join("pack"), objects.join("info")] {
            private(&dir)?;
        }
        // All of them here: git ignores a relative one that it finds in the repository's own list, one level down.
        let own = layout.common_dir.join("objects");
        let mut list = String::new();
        for store in std::iter::once(&own).chain(&layout.alternates) {
            list.push_str(alternate(store)?);
            list.push('\n');
        }
        write(&objects.join("info/alternates"), &list)?;
        for (path, _) in print.present.iter().filter(|(_, there)| *there) {
            let into = if path.starts_with(&layout.git_dir) { &git } else { &common };
            let link = into.join(path.file_name().unwrap_or_default());
            if link.symlink_metadata().is_err() {
                symlink(path, &link).map_err(|error| GitError::io(&link, error))?;
            }
        }
        Ok(Self { scratch, print, settings })
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.scratch.at("git")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.scratch.home()
    }

    /// The whole private directory.
    pub(crate) fn place(&self) -> &Path {
        &self.scratch.path
    }

    pub(crate) fn print(&self) -> &Print {
        &self.print
    }

    pub(crate) fn is_sha256(&self) -> bool {
        self.settings.sha256
    }
}

/// A line of `objects/info/alternates`. git takes a leading quote for a quoted name and `#` for a comment; an absolute
/// path has neither, but a newline would begin another line.
fn alternate(store: &Path) -> Result<&str, GitError> {
    let text = store.to_str().filter(|text| !text.contains('\n'));
    text.ok_or_else(|| GitError::layout(store, "its name has a newline or is not UTF-8"))
}

fn private(path: &Path) -> Result<(), GitError> {
    DirBuilder::new().mode(0o700).create(path).map_err(|error| GitError::io(path, error))
}

fn write(path: &Path, text: &str) -> Result<(), GitError> {
    std::fs::write(path, text).map_err(|error| GitError::io(path, error))
}
