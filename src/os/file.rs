//! Files by descriptor: reservation, locks, sealed memory, descriptors at fixed numbers.

use nix::fcntl::{FallocateFlags, FcntlArg, SealFlag, fallocate, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;

/// Allocates the blocks of the first `bytes` of a file without changing its size (`FALLOC_FL_KEEP_SIZE`,
/// `fallocate(2)`). A file system that can't (`EOPNOTSUPP`) leaves the file as it is.
pub fn reserve(file: &impl AsFd, bytes: i64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, bytes) {
        Ok(()) | Err(nix::errno::Errno::EOPNOTSUPP | nix::errno::Errno::ENOSYS) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Takes the exclusive lock of the open file description without waiting (`flock(2)`): it lasts while any
/// duplicate of the descriptor is open, in whatever process. `false` when somebody else holds it.
pub fn try_lock(file: &impl AsFd) -> io::Result<bool> {
    // SAFETY: flock takes a descriptor, which is borrowed for the call, and no memory.
    #[expect(unsafe_code, reason = "nix's own type unlocks on drop, which would unlock every duplicate too")]
    let done = unsafe { libc::flock(file.as_fd().as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
    match done {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error => Err(error),
        },
    }
}

/// A sealed memory file with `bytes`, for a program's standard input: read from the beginning, never changed
/// (`memfd_create(2)`, Linux 3.17).
pub fn sealed_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    // Never executable (Linux 6.3): a confinement's rules about files don't reach a memory file. Older kernels don't know
    // the flag (`EINVAL`), and the mode is all there is.
    let file =
        match memfd_create(c"argvault-input", flags | MFdFlags::from_bits_retain(libc::MFD_NOEXEC_SEAL)) {
            Err(nix::errno::Errno::EINVAL) => memfd_create(c"argvault-input", flags),
            made => made,
        }?;
    let file = File::from(file);
    nix::sys::stat::fchmod(&file, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR)?;
    file.write_all_at(bytes, 0)?;
    let seals =
        SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file.into())
}

/// Bytes that can be read from a pipe right now (`FIONREAD`, `pipe(7)`).
pub fn readable_bytes(pipe: &impl AsFd) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD stores one int through the pointer, which is valid for the call.
    #[expect(unsafe_code, reason = "ioctl(2)")]
    let done = unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if done == 0 { Ok(usize::try_from(count).unwrap_or(0)) } else { Err(io::Error::last_os_error()) }
}

/// Moves `descriptor` to the number `to`, close-on-exec, closing what was there (`dup3(2)`).
///
/// The caller owns every number that it names: a process that has just been forked and keeps nothing else, or one
/// that has just begun.
pub fn move_to(descriptor: OwnedFd, to: RawFd) -> io::Result<OwnedFd> {
    if descriptor.as_raw_fd() == to {
        return Ok(descriptor);
    }
    // SAFETY: dup3 takes two numbers and no memory. Closing whatever `to` was is what the caller asked for.
    #[expect(unsafe_code, reason = "dup3(2)")]
    let moved = unsafe { libc::dup3(descriptor.as_raw_fd(), to, libc::O_CLOEXEC) };
    if moved < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: dup3 has just made `to` a new descriptor of this process, and nothing else owns it.
    #[expect(unsafe_code, reason = "taking ownership of a descriptor just made")]
    Ok(unsafe { OwnedFd::from_raw_fd(moved) })
}

/// Closes every descriptor but those `kept` (`close_range(2)`, Linux 5.9). For a process that has just begun or has
/// just been forked: whatever owned the others must be forgotten, not dropped.
pub fn close_all_but(mut kept: Vec<RawFd>) -> io::Result<()> {
    kept.sort_unstable();
    let mut first = 0;
    for number in kept.into_iter().chain([RawFd::MAX]) {
        if first < number {
            // SAFETY: close_range takes numbers and no memory; the caller gave up what it closes.
            #[expect(unsafe_code, reason = "close_range(2)")]
            let done = unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) };
            if done != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        first = number.saturating_add(1);
    }
    Ok(())
}

/// A duplicate of standard input's descriptor, which the warden was started with as its socket. Afterwards
/// descriptor 0 can be pointed elsewhere.
pub fn take_stdin() -> io::Result<OwnedFd> {
    std::io::stdin().as_fd().try_clone_to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lasts_while_a_duplicate_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = File::create(&path).unwrap();
        let duplicate = first.try_clone().unwrap();
        let other = File::open(&path).unwrap();
        assert!(try_lock(&first).unwrap());
        assert!(!try_lock(&other).unwrap());
        drop(first);
        assert!(!try_lock(&other).unwrap());
        drop(duplicate);
        assert!(try_lock(&other).unwrap());
    }

    #[test]
    fn sealed_memory_reads_from_its_beginning_and_cannot_be_written() {
        let file = File::from(sealed_memory(b"abc").unwrap());
        assert_eq!(std::io::read_to_string(&file).unwrap(), "abc");
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.set_len(1).is_err());
    }

    #[test]
    fn a_reservation_leaves_the_size_alone() {
        let file = tempfile::tempfile().unwrap();
        reserve(&file, 8192).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
