//! Paths and the descriptors they lead to: `openat2(2)`, `faccessat2(2)` and the names under `/proc/self/fd`.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::{FileStat, fstat};

/// Where the walk along a path may lead. Links under `/proc/<pid>` that jump to a descriptor or a directory without
/// a path ("magic links", `openat2(2)`) are never followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everywhere; symbolic links are followed.
    Anywhere,
    /// Not above the directory the walk starts from. The kernel refuses with `EXDEV`, also for every absolute
    /// symbolic link, wherever it points.
    Beneath,
    /// The same, and a symbolic link is refused with `ELOOP`.
    BeneathWithoutLinks,
}

/// What the path must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory, else `ENOTDIR`.
    Directory,
    /// Anything. Nothing is opened but the name itself (`O_PATH`), so a FIFO or a device neither blocks nor acts.
    Any,
}

/// How often a walk is tried that the kernel calls unsettled.
const TRIES: usize = 64;

/// Opens `path` from `start` as a place (`O_PATH`): it can be entered, looked at and re-opened, but not read. That
/// needs no read permission.
///
/// The kernel answers `EAGAIN` when a rename or mount anywhere on the system might have carried a `..` of this walk
/// out of its bounds (`openat2(2)`); trying again is the documented reply. `EAGAIN` from here means that it never
/// settled.
pub fn open_place(start: BorrowedFd<'_>, path: &Path, kind: Kind, reach: Reach) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_PATH
        | OFlag::O_CLOEXEC
        | match kind {
            Kind::Directory => OFlag::O_DIRECTORY,
            Kind::Any => OFlag::empty(),
        };
    let resolve = ResolveFlag::RESOLVE_NO_MAGICLINKS
        | match reach {
            Reach::Anywhere => ResolveFlag::empty(),
            Reach::Beneath => ResolveFlag::RESOLVE_BENEATH,
            Reach::BeneathWithoutLinks => ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS,
        };
    let how = OpenHow::new().flags(flags).resolve(resolve);
    for _ in 0..TRIES {
        match openat2(start, path, how) {
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            settled => return settled,
        }
    }
    Err(Errno::EAGAIN)
}

/// Opens what `place` already holds for reading: the same inode, whatever its path names by now.
pub fn reopen_for_reading(place: BorrowedFd<'_>) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(name_under_proc(place))
}

/// Whether this process, with its effective ids, may execute the file or enter the directory that `place` holds.
/// The answer includes a mount with `noexec` and is the check that `execve(2)` and `fchdir(2)` make.
pub fn may_execute(place: BorrowedFd<'_>) -> nix::Result<()> {
    faccessat2_execute(place, c"", libc::AT_EACCESS | libc::AT_EMPTY_PATH)
}

/// The same for `path`, taken from the directory `start` when it is relative.
pub fn may_execute_at(start: BorrowedFd<'_>, path: &Path) -> nix::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
    faccessat2_execute(start, &path, libc::AT_EACCESS)
}

/// glibc before 2.33 answers `AT_EACCESS` from the mode bits, without capabilities, ACLs and
/// `noexec`, so the system call is made directly. Linux 5.8.
#[expect(unsafe_code, reason = "no safe wrapper makes this system call itself")]
fn faccessat2_execute(start: BorrowedFd<'_>, path: &CStr, flags: libc::c_int) -> nix::Result<()> {
    // SAFETY: faccessat2(2) reads a NUL-terminated path and keeps nothing; `path` is a `CStr` and the borrowed
    // descriptor stays open for the call. The integers have the widths the call takes.
    let answer =
        unsafe { libc::syscall(libc::SYS_faccessat2, start.as_raw_fd(), path.as_ptr(), libc::X_OK, flags) };
    Errno::result(answer).map(drop)
}

/// The path that the kernel knows the descriptor by, as seen from this process's root directory; `None` when its
/// last name was removed. Needs `/proc`. It need not be UTF-8.
pub fn path_of(place: impl AsFd) -> io::Result<Option<PathBuf>> {
    let place = place.as_fd();
    let path = std::fs::read_link(name_under_proc(place))?;
    // proc_pid_fd(5): " (deleted)" is appended to the name of what is gone; a living file may carry it as its own.
    if path.as_os_str().as_bytes().ends_with(b" (deleted)") {
        let held = fstat(place)?;
        let same = nix::sys::stat::stat(&path).is_ok_and(|named| is_same(&named, &held));
        return Ok(same.then_some(path));
    }
    Ok(Some(path))
}

/// Whether two looks saw the same file.
pub fn is_same(a: &FileStat, b: &FileStat) -> bool {
    a.st_dev == b.st_dev && a.st_ino == b.st_ino
}

/// The system's number for an error; `EIO` where it has none.
pub fn errno_of(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// The name that leads to the very descriptor, not to its path.
pub fn name_under_proc(place: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()))
}

/// Whether the file at `path` has the extended attribute `name`, whatever its value (`getxattr(2)`).
pub fn has_attribute(path: &Path, name: &CStr) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: getxattr(2) reads two NUL-terminated strings, which are `CStr`s, and with a size of 0 writes nothing.
    #[expect(unsafe_code, reason = "nix has no wrapper")]
    let size = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) };
    size >= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::AT_FDCWD;

    #[test]
    fn a_removed_directory_has_no_path_and_one_named_deleted_has() {
        let temp = tempfile::tempdir().unwrap();
        let odd = temp.path().join("odd (deleted)");
        std::fs::create_dir(&odd).unwrap();
        let place = open_place(AT_FDCWD, &odd, Kind::Directory, Reach::Anywhere).unwrap();
        assert_eq!(path_of(&place).unwrap(), Some(odd.canonicalize().unwrap()));
        std::fs::remove_dir(&odd).unwrap();
        assert_eq!(path_of(&place).unwrap(), None);
    }

    #[test]
    fn a_fifo_is_held_without_waiting_for_its_other_end() {
        let temp = tempfile::tempdir().unwrap();
        let fifo = temp.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        open_place(AT_FDCWD, &fifo, Kind::Any, Reach::Anywhere).unwrap();
    }

    #[test]
    fn a_magic_link_is_not_followed() {
        let refused = open_place(AT_FDCWD, Path::new("/proc/self/exe"), Kind::Any, Reach::Anywhere);
        assert_eq!(refused.unwrap_err(), Errno::ELOOP);
    }

    #[test]
    fn execute_permission_follows_the_mode_bits() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, expected) in [(0o600, Err(Errno::EACCES)), (0o700, Ok(()))] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let place = open_place(AT_FDCWD, file.path(), Kind::Any, Reach::Anywhere).unwrap();
            assert_eq!(may_execute(place.as_fd()), expected, "{mode:o}");
            assert_eq!(may_execute_at(AT_FDCWD, file.path()), expected, "{mode:o}");
        }
    }

    #[test]
    fn an_attribute_is_there_once_it_was_set() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (path, name) = (file.path(), c"user.argvault");
        assert!(!has_attribute(path, name));
        let of_c = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: two NUL-terminated strings and one byte to read, all alive for the call.
        #[expect(unsafe_code, reason = "nix has no wrapper")]
        let set = unsafe { libc::setxattr(of_c.as_ptr(), name.as_ptr(), c"1".as_ptr().cast(), 1, 0) };
        // Not every file system has attributes: tmpfs since Linux 6.6.
        assert_eq!(has_attribute(path, name), set == 0);
    }
}
