//! The system calls that a confined tree doesn't have, by what they are refused with.

use super::program::Call;

/// `EPERM`: other processes' memory, the kernel itself, mounts and namespaces, keyrings, clocks, the machine.
pub(super) const REFUSED: &[Call] = &[
    call!(SYS_acct),
    call!(SYS_add_key),
    call!(SYS_adjtimex),
    call!(SYS_bpf),
    call!(SYS_chroot),
    call!(SYS_clock_adjtime),
    call!(SYS_clock_settime),
    call!(SYS_delete_module),
    call!(SYS_fanotify_init),
    call!(SYS_finit_module),
    call!(SYS_fsconfig),
    call!(SYS_fsmount),
    call!(SYS_fsopen),
    call!(SYS_fspick),
    call!(SYS_init_module),
    call!(SYS_kcmp),
    KEXEC_FILE_LOAD,
    call!(SYS_kexec_load),
    call!(SYS_keyctl),
    call!(SYS_mount),
    call!(SYS_mount_setattr),
    call!(SYS_move_mount),
    call!(SYS_nfsservctl),
    call!(SYS_open_by_handle_at),
    call!(SYS_open_tree),
    OPEN_TREE_ATTR,
    call!(SYS_perf_event_open),
    call!(SYS_pidfd_getfd),
    call!(SYS_pivot_root),
    call!(SYS_process_madvise),
    call!(SYS_process_vm_readv),
    call!(SYS_process_vm_writev),
    call!(SYS_ptrace),
    call!(SYS_quotactl),
    call!(SYS_quotactl_fd),
    call!(SYS_reboot),
    call!(SYS_request_key),
    call!(SYS_setdomainname),
    call!(SYS_sethostname),
    call!(SYS_setns),
    call!(SYS_settimeofday),
    call!(SYS_swapoff),
    call!(SYS_swapon),
    call!(SYS_syslog),
    call!(SYS_umount2),
    call!(SYS_userfaultfd),
    call!(SYS_vhangup),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_uselib),
];

/// `ENOSYS`, at which callers fall back on what can be looked at: `io_uring` makes sockets and opens files past every
/// filter, and the flags of `clone3(2)` are behind a pointer, where no filter can read.
pub(super) const NOT_HERE: &[Call] =
    &[call!(SYS_clone3), call!(SYS_io_uring_enter), call!(SYS_io_uring_register), call!(SYS_io_uring_setup)];

// Not in every libc's list. From 403 on a number is the same on every architecture.
const KEXEC_FILE_LOAD: Call =
    Call::new("kexec_file_load", if cfg!(target_arch = "aarch64") { 294 } else { 320 });
const FCHMODAT2: Call = Call::new("fchmodat2", 452);
/// Linux 6.13.
const SETXATTRAT: Call = Call::new("setxattrat", 463);
/// Linux 6.13.
const REMOVEXATTRAT: Call = Call::new("removexattrat", 466);
/// Linux 6.15.
const OPEN_TREE_ATTR: Call = Call::new("open_tree_attr", 467);
/// Linux 6.17.
const FILE_SETATTR: Call = Call::new("file_setattr", 469);

/// `EPERM` where nothing may be written: Landlock covers content and names, not what stands beside them.
pub(super) const ATTRIBUTES: &[Call] = &[
    FILE_SETATTR,
    REMOVEXATTRAT,
    SETXATTRAT,
    call!(SYS_fchmod),
    call!(SYS_fchmodat),
    FCHMODAT2,
    call!(SYS_fchown),
    call!(SYS_fchownat),
    call!(SYS_fremovexattr),
    call!(SYS_fsetxattr),
    call!(SYS_lremovexattr),
    call!(SYS_lsetxattr),
    call!(SYS_removexattr),
    call!(SYS_setxattr),
    call!(SYS_utimensat),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_chmod),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_chown),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_futimesat),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_lchown),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_utime),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_utimes),
];
