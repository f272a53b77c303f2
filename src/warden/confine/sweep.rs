//! Removing a command's temporary directory, whatever the command has left there.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Deeper directories are moved to the top first: a tree as deep as its maker liked would need as many descriptors.
const MAX_DEPTH: usize = 24;

/// Removes `name` in `folder` and all below it. No symbolic link is followed. False when it isn't all gone by `until`,
/// or can't be.
pub fn remove(folder: &impl AsFd, name: &CStr, until: Instant) -> bool {
    let Ok(top) = open(folder, name) else { return true };
    let mut sweep = Sweep { top: &top, until, moved: 0 };
    // Each pass may bring deep directories up; one that brings nothing has seen everything.
    loop {
        let moved = sweep.moved;
        if !sweep.empty(&top, 0) {
            return false;
        }
        if sweep.moved == moved {
            break;
        }
    }
    unlinkat(folder, name, UnlinkatFlags::RemoveDir).is_ok()
}

struct Sweep<'t> {
    top: &'t OwnedFd,
    until: Instant,
    moved: u64,
}

impl Sweep<'_> {
    fn empty(&mut self, dir: &OwnedFd, depth: usize) -> bool {
        let Ok(mut entries) = dir.try_clone().map_err(|_| Errno::EMFILE).and_then(Dir::from_fd) else {
            return false;
        };
        let entries: Vec<_> =
            entries.iter().flatten().map(|entry| (entry.file_name().to_owned(), entry.file_type())).collect();
        let mut all = true;
        for (name, kind) in entries {
            if name.as_bytes() == b"." || name.as_bytes() == b".." {
                continue;
            }
            if Instant::now() >= self.until {
                return false;
            }
            all &= if is_directory(dir, &name, kind) {
                self.directory(dir, &name, depth)
            } else {
                unlinkat(dir, name.as_c_str(), UnlinkatFlags::NoRemoveDir).is_ok()
            };
        }
        all
    }

    fn directory(&mut self, parent: &OwnedFd, name: &CString, depth: usize) -> bool {
        if depth == MAX_DEPTH {
            self.moved += 1;
            let new = format!("argvault-deep-{}", self.moved);
            return renameat(parent, name.as_c_str(), self.top, new.as_str()).is_ok();
        }
        let dir = match open(parent, name) {
            // Its maker may have taken its own permissions away.
            Err(Errno::EACCES) => {
                let _ = fchmodat(parent, name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink);
                open(parent, name)
            }
            opened => opened,
        };
        let Ok(dir) = dir else { return false };
        let moved = self.moved;
        let emptied = self.empty(&dir, depth + 1);
        match unlinkat(parent, name.as_c_str(), UnlinkatFlags::RemoveDir) {
            Ok(()) => true,
            Err(_) => emptied && self.moved > moved,
        }
    }
}

fn open(parent: &impl AsFd, name: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Some file systems don't say in the listing.
fn is_directory(parent: &OwnedFd, name: &CStr, kind: Option<Type>) -> bool {
    match kind {
        Some(kind) => kind == Type::Directory,
        None => fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFDIR.bits()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn everything_below_goes_and_nothing_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let kept = tempfile::tempdir().unwrap();
        std::fs::write(kept.path().join("file"), "x").unwrap();
        let tmp = dir.path().join("tmp");
        std::fs::create_dir_all(tmp.join("a/b")).unwrap();
        std::fs::write(tmp.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(kept.path(), tmp.join("a/link")).unwrap();
        nix::unistd::mkfifo(&tmp.join("fifo"), Mode::S_IRWXU).unwrap();
        assert!(remove(&File::open(dir.path()).unwrap(), c"tmp", soon()));
        assert!(!tmp.exists() && kept.path().join("file").exists());
        assert!(remove(&File::open(dir.path()).unwrap(), c"tmp", soon()), "nothing there is no failure");
    }

    #[test]
    fn a_tree_deeper_than_any_path_goes_too() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        let mut at = open(&folder, c"tmp").unwrap();
        for _ in 0..3000 {
            nix::sys::stat::mkdirat(&at, c"d", Mode::S_IRWXU).unwrap();
            at = open(&at, c"d").unwrap();
        }
        assert!(remove(&folder, c"tmp", soon()));
    }

    #[test]
    fn it_ends_when_its_time_is_over() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("tmp/a")).unwrap();
        assert!(!remove(&File::open(dir.path()).unwrap(), c"tmp", Instant::now()));
        assert!(dir.path().join("tmp/a").exists());
    }
}
