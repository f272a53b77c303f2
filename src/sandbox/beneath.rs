//! The walk beneath a root.
//!
//! `RESOLVE_BENEATH` refuses every absolute symbolic link and every `..` above its start, also those that come back
//! inside. Only for these is the path resolved as text (`realpath(3)`), and the result is walked again, from the
//! root's descriptor and without following any link: the text decides where to look, never what is opened.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;

use super::root::WorkspaceRoot;
use crate::os::path::{self, Kind, Reach};

/// How often a path is tried that changes while it is walked.
const TRIES: usize = 64;
/// Symbolic links in one path before it counts as a loop (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// Where a relative path starts: the root itself or a directory that was opened beneath it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) place: BorrowedFd<'a>,
    pub(super) real: &'a Path,
}

/// What was reached.
#[derive(Debug)]
pub(super) struct Reached {
    pub(super) place: OwnedFd,
    pub(super) real: PathBuf,
}

/// Why nothing was reached. `resolved` is where the path leads as text; it is for the message alone.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It leads outside the root, whether or not anything is there: an error must not tell what exists outside.
    Outside { resolved: PathBuf },
    /// It kept changing.
    Unsteady { resolved: PathBuf },
    /// The kernel's word for something inside the root.
    Failed { resolved: PathBuf, errno: Errno },
    /// `/proc` can't be read.
    NoProc { errno: Errno },
}

/// Opens `wanted`, relative to `start` or absolute, if it lies beneath `root`.
pub(super) fn walk(
    root: &WorkspaceRoot,
    start: Start<'_>,
    wanted: &Path,
    kind: Kind,
) -> Result<Reached, Stopped> {
    for _ in 0..TRIES {
        let place = match open(root, start, wanted, kind) {
            Ok(place) => place,
            Err(Attempt::Moved) => continue,
            Err(Attempt::Outside(resolved)) => return Err(Stopped::Outside { resolved }),
            Err(Attempt::Failed(Errno::EAGAIN)) => break,
            Err(Attempt::Failed(errno)) => return Err(failed(root, start, wanted, errno)),
        };
        match path::path_of(&place) {
            Ok(Some(real)) if root.below(&real).is_some() => return Ok(Reached { place, real }),
            // Moved away since the kernel walked it.
            Ok(Some(_)) => {}
            Ok(None) => return Err(failed(root, start, wanted, Errno::ENOENT)),
            Err(error) => return Err(Stopped::NoProc { errno: path::errno_of(&error) }),
        }
    }
    Err(Stopped::Unsteady { resolved: resolve_as_text(&start.real.join(wanted)) })
}

enum Attempt {
    Outside(PathBuf),
    Moved,
    Failed(Errno),
}

fn open(root: &WorkspaceRoot, start: Start<'_>, wanted: &Path, kind: Kind) -> Result<OwnedFd, Attempt> {
    if wanted.is_relative() {
        match path::open_place(start.place, or_dot(wanted), kind, Reach::Beneath) {
            // EXDEV: it left, for good or on its way back inside. ELOOP: a loop, or a magic link.
            Err(Errno::EXDEV | Errno::ELOOP) => {}
            settled => return settled.map_err(Attempt::Failed),
        }
    }
    // The start's own name may lead elsewhere by now; the name under /proc leads to what is held.
    let real = std::fs::canonicalize(path::name_under_proc(start.place).join(wanted))
        .map_err(|error| Attempt::Failed(path::errno_of(&error)))?;
    let Some(inside) = root.below(&real) else { return Err(Attempt::Outside(real)) };
    match path::open_place(root.as_fd(), or_dot(&inside), kind, Reach::BeneathWithoutLinks) {
        // A name that was no link a moment ago is one now, or gone.
        Err(Errno::ELOOP | Errno::EXDEV | Errno::ENOENT) => Err(Attempt::Moved),
        settled => settled.map_err(Attempt::Failed),
    }
}

fn failed(root: &WorkspaceRoot, start: Start<'_>, wanted: &Path, errno: Errno) -> Stopped {
    let resolved = resolve_as_text(&start.real.join(wanted));
    if root.below(&resolved).is_some() {
        Stopped::Failed { resolved, errno }
    } else {
        Stopped::Outside { resolved }
    }
}

/// An empty path names nothing (`ENOENT`), yet it is what is left of the root's own path.
fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Where an absolute path leads, as far as links can be read; what doesn't exist or can't be looked at is taken as
/// plain names. Unlike `realpath(3)` it always has an answer, so a message can name it.
pub(super) fn resolve_as_text(path: &Path) -> PathBuf {
    let mut done = PathBuf::from("/");
    let mut todo = names_reversed(path);
    let mut links = 0;
    while let Some(name) = todo.pop() {
        if name == ".." {
            done.pop();
            continue;
        }
        done.push(name);
        let Ok(target) = std::fs::read_link(&done) else { continue };
        if links == MAX_LINKS {
            continue;
        }
        links += 1;
        if target.is_absolute() {
            done = PathBuf::from("/");
        } else {
            done.pop();
        }
        todo.extend(names_reversed(&target));
    }
    done
}

fn names_reversed(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_resolved_as_text_also_where_nothing_is() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("dir")).unwrap();
        symlink("dir", base.join("near")).unwrap();
        symlink("/nowhere/at/all", base.join("dangling")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        for (given, expected) in [
            ("dir/../dir/./x", base.join("dir/x")),
            ("near/missing", base.join("dir/missing")),
            ("near/..", base.clone()),
            ("dangling/x", PathBuf::from("/nowhere/at/all/x")),
            ("missing/../../..", base.parent().unwrap().parent().unwrap().to_owned()),
            ("loop/x", base.join("loop/x")),
            ("/../..", PathBuf::from("/")),
        ] {
            assert_eq!(resolve_as_text(&base.join(given)), expected, "{given}");
        }
    }
}
