//! What the kernel's confinement has to offer, asked without confining anybody.

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
