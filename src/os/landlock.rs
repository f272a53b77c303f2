//! What the kernel's confinement has to offer, and rules for it; nobody is confined here.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Landlock's ABI; 0 where it is missing (`ENOSYS`) or switched off at boot (`EOPNOTSUPP`), `landlock(7)`.
pub fn abi() -> u32 {
    const VERSION: libc::c_long = 1; // LANDLOCK_CREATE_RULESET_VERSION, with a null pointer and size 0
    // SAFETY: with this flag the call takes no memory and makes no descriptor: it answers with a number
    // (`landlock_create_ruleset(2)`).
    #[expect(unsafe_code, reason = "asking for Landlock's version")]
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, VERSION) };
    u32::try_from(answer).unwrap_or(0)
}

/// Whether filters that answer with an error number can be set (`SECCOMP_GET_ACTION_AVAIL`, `seccomp(2)`, Linux 4.14).
pub fn has_seccomp() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads one u32 through the pointer, which is valid for it, and changes nothing.
    #[expect(unsafe_code, reason = "asking for seccomp")]
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, (&raw const action).cast::<u32>())
    };
    answer == 0
}

/// Gives `rights` (`LANDLOCK_ACCESS_FS_…`) to all that is beneath `place` (`landlock_add_rule(2)`). The caller knows
/// whether it is a directory, so nobody has to look again.
pub fn add_path_rule(ruleset: BorrowedFd<'_>, place: BorrowedFd<'_>, rights: u64) -> io::Result<()> {
    const PATH_BENEATH: libc::c_int = 1;
    /// `struct landlock_path_beneath_attr` of `linux/landlock.h`.
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent_fd: i32,
    }
    let rule = PathBeneath { allowed_access: rights, parent_fd: place.as_raw_fd() };
    // SAFETY: the pointer is to a structure as the call reads it, alive for the call; both descriptors are borrowed.
    #[expect(unsafe_code, reason = "landlock_add_rule(2)")]
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u32)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
