//! Removing a directory whatever a command has left in it: by descriptors, no link followed, in bounded memory and time.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmod, fchmodat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::os::random::random;

/// Deeper directories are moved to the top first: a tree as deep as its maker liked would need as many descriptors.
const MAX_DEPTH: usize = 8;

/// Removes `name` in `folder` and all below it. No symbolic link is followed. False when it isn't all gone by `until`,
/// or can't be.
pub fn remove(folder: &impl AsFd, name: &CStr, until: Instant) -> bool {
    // Most are empty.
    if unlinkat(folder, name, UnlinkatFlags::RemoveDir).is_ok() {
        return true;
    }
    let top = match open(folder, name) {
        Ok(top) => top,
        Err(Errno::ENOENT) => return true,
        Err(Errno::ENOTDIR | Errno::ELOOP) => {
            return unlinkat(folder, name, UnlinkatFlags::NoRemoveDir).is_ok();
        }
        Err(_) => return false,
    };
    // Names that its maker could not have taken.
    let Ok(unique) = random().map(u64::from_ne_bytes) else { return false };
    let mut sweep = Sweep { top: &top, until, unique, moved: 0 };
    sweep.empty(&top, 0) && unlinkat(folder, name, UnlinkatFlags::RemoveDir).is_ok()
}

struct Sweep<'t> {
    top: &'t OwnedFd,
    until: Instant,
    unique: u64,
    moved: u64,
}

/// What one reading of a directory came to.
#[derive(Default)]
struct Pass {
    seen: u64,
    gone: u64,
}

impl Sweep<'_> {
    /// False when something stays.
    fn empty(&mut self, dir: &OwnedFd, depth: usize) -> bool {
        // A listing may miss what is there while entries are removed (`readdir(3)`): read until it has none.
        loop {
            match self.pass(dir, depth) {
                Some(Pass { seen: 0, .. }) => return true,
                None | Some(Pass { gone: 0, .. }) => return false,
                Some(_) => {}
            }
        }
    }

    /// Reads `dir` once and removes what it has. `None` when it can't be read, or time is up.
    fn pass(&mut self, dir: &OwnedFd, depth: usize) -> Option<Pass> {
        let mut entries = Dir::from_fd(dir.try_clone().ok()?).ok()?;
        let mut pass = Pass::default();
        for entry in entries.iter() {
            let entry = entry.ok()?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if Instant::now() >= self.until {
                return None;
            }
            pass.seen += 1;
            let gone = if is_directory(dir, name, entry.file_type()) {
                self.directory(dir, name, depth)
            } else {
                insist(dir, || unlinkat(dir, name, UnlinkatFlags::NoRemoveDir)).is_ok()
            };
            pass.gone += u64::from(gone);
        }
        Some(pass)
    }

    fn directory(&mut self, parent: &OwnedFd, name: &CStr, depth: usize) -> bool {
        if depth == MAX_DEPTH {
            return self.move_up(parent, name).is_ok();
        }
        let emptied = insist(parent, || open(parent, name)).is_ok_and(|dir| self.empty(&dir, depth + 1));
        emptied && insist(parent, || unlinkat(parent, name, UnlinkatFlags::RemoveDir)).is_ok()
    }

    /// Moves a directory to the top, where the next reading finds it.
    fn move_up(&mut self, parent: &OwnedFd, name: &CStr) -> nix::Result<()> {
        self.moved += 1;
        let new = CString::new(format!("argvault-{:016x}-{}", self.unique, self.moved)).unwrap_or_default();
        let call = || renameat(parent, name, self.top, new.as_c_str());
        match call() {
            Err(Errno::EACCES) => {
                // Its entry for its parent is written too.
                let _ = fchmodat(parent, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink);
                let _ = fchmod(self.top, Mode::S_IRWXU);
                insist(parent, call)
            }
            done => done,
        }
    }
}

/// Calls once more, with all permissions on `dir`, where its maker has taken them away.
fn insist<T>(dir: &OwnedFd, call: impl Fn() -> nix::Result<T>) -> nix::Result<T> {
    match call() {
        Err(Errno::EACCES) if fchmod(dir, Mode::S_IRWXU).is_ok() => call(),
        done => done,
    }
}

/// Opens a directory that is one; one that may not be read is made readable.
fn open(parent: &impl AsFd, name: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let open = || openat(parent, name, flags, Mode::empty());
    match open() {
        Err(Errno::EACCES) => {
            fchmodat(parent, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink)?;
            open()
        }
        opened => opened,
    }
}

/// Some file systems don't say in the listing.
fn is_directory(parent: &OwnedFd, name: &CStr, kind: Option<Type>) -> bool {
    match kind {
        Some(kind) => kind == Type::Directory,
        None => insist(parent, || fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW))
            .is_ok_and(|stat| stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFDIR.bits()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
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
        let folder = File::open(dir.path()).unwrap();
        assert!(remove(&folder, c"tmp", soon()));
        assert!(!tmp.exists() && kept.path().join("file").exists());
        assert!(remove(&folder, c"tmp", soon()), "nothing there is no failure");
        std::os::unix::fs::symlink(kept.path(), &tmp).unwrap();
        assert!(remove(&folder, c"tmp", soon()), "a link in its place goes");
        assert!(tmp.symlink_metadata().is_err() && kept.path().join("file").exists());
    }

    #[test]
    fn a_tree_deeper_than_any_path_goes_too() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        let mut at = open(&folder, c"tmp").unwrap();
        let name = c"twenty characters, no";
        for _ in 0..300 {
            nix::sys::stat::mkdirat(&at, name, Mode::S_IRWXU).unwrap();
            at = open(&at, name).unwrap();
        }
        assert!(remove(&folder, c"tmp", soon()));
    }

    #[test]
    fn more_entries_than_one_listing_has_go() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        for number in 0..2000 {
            File::create(dir.path().join(format!("tmp/{number}"))).unwrap();
        }
        assert!(remove(&File::open(dir.path()).unwrap(), c"tmp", soon()));
    }

    /// Root is refused nothing: the thread looks at files as nobody (`setfsuid(2)`).
    fn as_nobody(dir: &Path) {
        if nix::unistd::geteuid().is_root() {
            let nobody = 65534;
            std::os::unix::fs::chown(dir, Some(nobody), None).unwrap();
            nix::unistd::setfsuid(nobody.into());
        }
    }

    #[test]
    fn permissions_that_were_taken_away_stop_nothing() {
        let dir = tempfile::tempdir().unwrap();
        as_nobody(dir.path());
        let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let tmp = dir.path().join("tmp");
        for mode in [0o000, 0o100, 0o200, 0o300, 0o400, 0o500, 0o600] {
            let deep = tmp.join("1/2/3/4/5/6/7/8/9/10");
            std::fs::create_dir_all(&deep).unwrap();
            File::create(deep.join("file")).unwrap();
            for below in deep.ancestors().take_while(|path| *path != dir.path()) {
                File::create(below.join("file")).unwrap();
                set(below, mode);
            }
            assert!(std::fs::remove_dir_all(&tmp).is_err(), "{mode:o} stops nobody");
            assert!(remove(&File::open(dir.path()).unwrap(), c"tmp", soon()), "{mode:o}");
            assert!(!tmp.exists());
        }
    }

    #[test]
    fn it_ends_when_its_time_is_over() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("tmp/a")).unwrap();
        assert!(!remove(&File::open(dir.path()).unwrap(), c"tmp", Instant::now()));
        assert!(dir.path().join("tmp/a").exists());
    }
}
