//! What runs in the child between clone and exec, on its own stack, in the parent's memory. It allocates nothing, locks
//! nothing, and calls only what is async-signal-safe or a plain system call.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use super::ahead::{Meeting, wait_for_command};
use super::{Shared, Stage};

/// Capabilities that would undo a confinement, by their numbers in `linux/capability.h`: kernel modules, raw devices and
/// memory, tracing, mounts and namespaces, the machine's clock and power, device nodes, security modules and audit, the
/// kernel's log, `CAP_PERFMON` (which reads `/proc/<pid>/environ` of any process), `CAP_BPF`, immutable files.
const UNDOING: [c_int; 17] = [9, 16, 17, 19, 20, 21, 22, 25, 26, 27, 30, 32, 33, 34, 38, 39, 40];

/// The child of [`spawn`](super::spawn), which passes its `Shared`.
pub(super) extern "C" fn at_once(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is a `Shared`, alive until this process has exec'd or ended, and the parent is suspended
    // meanwhile. All pointers in it are valid and NUL-terminated as the calls below need them.
    #[expect(unsafe_code, reason = "the child between clone and exec")]
    unsafe {
        let shared = argument.cast::<Shared>();
        fail(shared, set_up(&*shared))
    }
}

/// The child of [`Waiting`](super::Waiting), which passes its `Meeting`: does what no command has a say in, waits for the
/// command, and does the rest.
pub(super) extern "C" fn ahead(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is a `Meeting`, alive until this process has exec'd or ended: the parent kills and reaps it before
    // it lets go of that. The parent waits while this runs: for `READY`, and from `GO` on for the end. What it does on the
    // way, should it lose patience, touches nothing here but `errno`, which they share and which only names a failure. The
    // references to `shared` are made while the parent waits, and are gone when it writes.
    #[expect(unsafe_code, reason = "the child between clone and exec")]
    unsafe {
        let meeting = argument.cast::<Meeting>();
        let shared = &raw mut (*meeting).shared;
        if let Some(stage) = prepare(meeting) {
            fail(shared, stage);
        }
        wait_for_command(&(*meeting).state, &(*meeting).command);
        // The parent's table of descriptors as it is now, with what came for the command.
        if libc::unshare(libc::CLONE_FILES) != 0 {
            fail(shared, Stage::Stdio);
        }
        fail(shared, finish(&*shared))
    }
}

/// Ends the child with `stage` and `errno` told.
///
/// # Safety
/// Only in the child, with its `Shared`.
#[expect(unsafe_code, reason = "see above")]
unsafe fn fail(shared: *mut Shared, stage: Stage) -> ! {
    // SAFETY: `shared` is alive, and the parent waits.
    unsafe {
        let errno = *libc::__errno_location();
        (&raw mut (*shared).stage).write_volatile(stage as c_int);
        (&raw mut (*shared).errno).write_volatile(if errno == 0 { libc::EINVAL } else { errno });
        libc::_exit(127)
    }
}

/// Returns only when something failed, with `errno` set.
///
/// # Safety
/// Only in the child, with its `Shared`.
#[expect(unsafe_code, reason = "see above")]
unsafe fn set_up(shared: &Shared) -> Stage {
    // SAFETY: as the caller's.
    unsafe {
        if let Some(stage) = leave_parent(shared).or_else(|| enter_place(shared)) {
            return stage;
        }
        if shared.confined && !give_up_privileges() || !enter_domain(shared) {
            return Stage::Confine;
        }
        close_all_but(shared.descriptor);
        clear_mask();
        // Last: it may refuse what is called above.
        if !set_filter(shared) {
            return Stage::Confine;
        }
        exec(shared)
    }
}

/// The part that is the same for every command that is confined by one filter. Says what failed, with `errno` set.
///
/// # Safety
/// Only in the child, with its `Meeting`.
#[expect(unsafe_code, reason = "see above")]
unsafe fn prepare(meeting: *const Meeting) -> Option<Stage> {
    // SAFETY: as the caller's.
    unsafe {
        if !(*meeting).announce_end() {
            return Some(Stage::Session);
        }
        let shared = &(*meeting).shared;
        leave_parent(shared)
            .or_else(|| (!give_up_privileges() || !set_filter(shared)).then_some(Stage::Confine))
    }
}

/// The part that is the command's. Under the filter already: it lets through what is called here, as it must `exec`.
/// Returns only when something failed, with `errno` set.
///
/// # Safety
/// Only in the child, with its `Shared`.
#[expect(unsafe_code, reason = "see above")]
unsafe fn finish(shared: &Shared) -> Stage {
    // SAFETY: as the caller's.
    unsafe {
        if let Some(stage) = enter_place(shared) {
            return stage;
        }
        if !enter_domain(shared) {
            return Stage::Confine;
        }
        close_all_but(shared.descriptor);
        clear_mask();
        exec(shared)
    }
}

/// A session of its own, the end with the parent, signals as they are by default.
///
/// # Safety
/// Only in the child.
#[expect(unsafe_code, reason = "see above")]
unsafe fn leave_parent(shared: &Shared) -> Option<Stage> {
    // SAFETY: numbers only, or pointers to what lives here.
    unsafe {
        if libc::setsid() < 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Some(Stage::Session);
        }
        // The parent may have ended before the signal was asked for.
        if libc::getppid() != shared.parent {
            libc::_exit(127);
        }
        // Asked of the kernel itself: libc refuses to touch 32 and 33, which it keeps for its threads, and a host may
        // have been started with them ignored. SIGKILL and SIGSTOP are refused and can't be ignored anyway.
        let default = [0_u64; 4]; // at least the kernel's `struct sigaction`, all zero: SIG_DFL, no flags, no mask
        for signal in 1..=64 {
            let none = std::ptr::null::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, size_of::<u64>());
        }
    }
    None
}

/// Limits, cgroup, working directory, standard input and output, file mode creation mask.
///
/// # Safety
/// Only in the child, whose table of descriptors is its own.
#[expect(unsafe_code, reason = "see above")]
unsafe fn enter_place(shared: &Shared) -> Option<Stage> {
    // SAFETY: numbers only, or pointers that the parent keeps valid.
    unsafe {
        for at in 0..shared.limit_count {
            let limit = *shared.limits.add(at);
            let value = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
            if libc::setrlimit(limit.resource, &raw const value) != 0 {
                return Some(Stage::Limit);
            }
        }
        if shared.cgroup >= 0 && libc::write(shared.cgroup, c"0".as_ptr().cast(), 1) != 1 {
            return Some(Stage::Cgroup);
        }
        if libc::fchdir(shared.cwd) != 0 {
            return Some(Stage::Cwd);
        }
        for (to, from) in shared.stdio.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "0, 1 or 2")]
            if libc::dup2(*from, to as c_int) < 0 {
                return Some(Stage::Stdio);
            }
        }
        libc::umask(shared.umask);
    }
    None
}

/// Neither Landlock nor a filter can be set by an unprivileged process that could still gain privileges
/// (`landlock_restrict_self(2)`, `seccomp(2)`).
///
/// # Safety
/// Only in the child.
#[expect(unsafe_code, reason = "see above")]
unsafe fn give_up_privileges() -> bool {
    // SAFETY: numbers only.
    unsafe {
        for capability in UNDOING {
            // Refused where there is none to lose: what is out of the bounding set doesn't come back at exec
            // (`capabilities(7)`).
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            // Lowering costs new credentials even where there is nothing to lower.
            if libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1 {
                libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_LOWER, capability, 0, 0);
            }
        }
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    }
}

/// # Safety
/// Only in the child.
#[expect(unsafe_code, reason = "see above")]
unsafe fn enter_domain(shared: &Shared) -> bool {
    // SAFETY: numbers only.
    unsafe { shared.ruleset < 0 || libc::syscall(libc::SYS_landlock_restrict_self, shared.ruleset, 0) == 0 }
}

/// # Safety
/// Only in the child, while the filter's steps are alive.
#[expect(unsafe_code, reason = "see above")]
unsafe fn set_filter(shared: &Shared) -> bool {
    let filter = &raw const shared.filter;
    // SAFETY: the pointer is to a program as the call reads it.
    unsafe {
        shared.filter.len == 0
            || libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, filter) == 0
    }
}

/// # Safety
/// Only in the child.
#[expect(unsafe_code, reason = "see above")]
unsafe fn clear_mask() {
    let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is filled in before it is read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// # Safety
/// Only in the child, with its `Shared`.
#[expect(unsafe_code, reason = "see above")]
unsafe fn exec(shared: &Shared) -> Stage {
    // SAFETY: pointers that the parent keeps valid until this has exec'd or ended.
    unsafe {
        *libc::__errno_location() = 0;
        if shared.descriptor < 0 {
            libc::execve(shared.executable, shared.argv, shared.env);
        } else {
            libc::syscall(
                libc::SYS_execveat,
                shared.descriptor,
                shared.executable,
                shared.argv,
                shared.env,
                libc::AT_EMPTY_PATH,
            );
        }
    }
    Stage::Exec
}

/// Closes 3 and up but `kept`, which is close-on-exec.
///
/// # Safety
/// Only in a child whose table of descriptors is its own.
#[expect(unsafe_code, reason = "see `child`")]
unsafe fn close_all_but(kept: RawFd) {
    // SAFETY: numbers only. An error (before Linux 5.9) leaves descriptors that are all close-on-exec.
    unsafe {
        if kept < 3 {
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
            return;
        }
        if kept > 3 {
            libc::syscall(libc::SYS_close_range, 3, kept - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, libc::c_uint::MAX, 0);
    }
}
