//! Starting a program from a keeper: `clone(CLONE_VM | CLONE_VFORK)`, a fixed set-up, exec.
//!
//! The child shares the parent's memory until it has exec'd or ended, and the parent waits for that
//! (`clone(2)`), so the stage and errno of a failure come back through memory, without a pipe.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use super::process::Pid;

/// What to exec.
#[derive(Debug, Clone, Copy)]
pub enum Executable<'a> {
    /// By path.
    Path(&'a CStr),
    /// The very file behind a descriptor (`execveat(2)` with `AT_EMPTY_PATH`). Only for binaries: a script's
    /// interpreter would be handed a path that close-on-exec takes away.
    Descriptor(BorrowedFd<'a>),
}

/// What `setrlimit(2)` calls a limit by: glibc has a type of its own for it, where musl takes the `int` of the manual.
#[cfg(target_env = "musl")]
pub type LimitName = c_int;
/// What `setrlimit(2)` calls a limit by: glibc has a type of its own for it, where musl takes the `int` of the manual.
#[cfg(not(target_env = "musl"))]
pub type LimitName = libc::__rlimit_resource_t;

/// One `setrlimit(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimit {
    /// `RLIMIT_…`.
    pub resource: LimitName,
    /// Soft limit.
    pub soft: u64,
    /// Hard limit.
    pub hard: u64,
}

/// What the child confines itself to, for good and for all that it starts.
#[derive(Debug, Clone, Copy)]
pub struct Confinement<'a> {
    /// A Landlock ruleset.
    pub ruleset: Option<BorrowedFd<'a>>,
    /// A seccomp program. It must let through what starts the program.
    pub filter: Option<&'a [libc::sock_filter]>,
}

/// Everything that the child needs, made before it exists.
#[derive(Debug)]
pub struct Program<'a> {
    /// What to exec.
    pub executable: Executable<'a>,
    /// argv, not empty.
    pub argv: &'a [CString],
    /// The whole environment, `NAME=VALUE`.
    pub env: &'a [CString],
    /// Where it runs.
    pub cwd: BorrowedFd<'a>,
    /// Its standard input, output and error. None of them may be descriptor 0, 1 or 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Limits, set in order.
    pub limits: &'a [ResourceLimit],
    /// File mode creation mask.
    pub umask: libc::mode_t,
    /// `cgroup.procs` of the leaf to enter, opened for writing.
    pub cgroup: Option<BorrowedFd<'a>>,
    /// What it is confined to.
    pub confinement: Option<Confinement<'a>>,
}

/// Where a start failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Stage {
    /// The child could not be made at all.
    Clone,
    /// A new session or the parent-death signal.
    Session,
    /// A resource limit.
    Limit,
    /// The cgroup.
    Cgroup,
    /// The working directory.
    Cwd,
    /// Standard input, output or error.
    Stdio,
    /// The confinement.
    Confine,
    /// The program itself.
    Exec,
}

/// Why no program runs.
#[derive(Debug)]
pub struct SpawnFailure {
    /// How far it got.
    pub stage: Stage,
    /// What the kernel said.
    pub error: io::Error,
}

/// Capabilities that would undo a confinement, by their numbers in `linux/capability.h`: kernel modules, raw devices and
/// memory, tracing, mounts and namespaces, the machine's clock and power, device nodes, security modules and audit, the
/// kernel's log, `CAP_PERFMON` (which reads `/proc/<pid>/environ` of any process), `CAP_BPF`, immutable files.
const UNDOING: [c_int; 17] = [9, 16, 17, 19, 20, 21, 22, 25, 26, 27, 30, 32, 33, 34, 38, 39, 40];

/// What parent and child share.
struct Shared {
    executable: *const c_char,
    descriptor: RawFd,
    argv: *const *const c_char,
    env: *const *const c_char,
    cwd: RawFd,
    stdio: [RawFd; 3],
    limits: *const ResourceLimit,
    limit_count: usize,
    umask: libc::mode_t,
    cgroup: RawFd,
    confined: bool,
    ruleset: RawFd,
    filter: libc::sock_fprog,
    parent: Pid,
    // Written by the child, read by the parent after the child is done with this memory.
    stage: c_int,
    errno: c_int,
}

/// The child's stack. It calls a few system-call wrappers of libc, none of which needs more than a page or two.
const STACK_BYTES: usize = 64 * 1024;

/// Starts `program` as a child of this single-threaded process. It leads its own session, has default signal
/// dispositions and an empty mask, no descriptor but 0 to 2, and is killed when this process ends
/// (`PR_SET_PDEATHSIG(2const)`).
pub fn spawn(program: &Program<'_>) -> Result<Pid, SpawnFailure> {
    let argv = pointers(program.argv);
    let env = pointers(program.env);
    let (path, descriptor) = match program.executable {
        Executable::Path(path) => (path.as_ptr(), -1),
        Executable::Descriptor(fd) => (c"".as_ptr(), fd.as_raw_fd()),
    };
    let filter = program.confinement.and_then(|confinement| confinement.filter).unwrap_or_default();
    let ruleset = program.confinement.and_then(|confinement| confinement.ruleset);
    let mut shared = Shared {
        executable: path,
        descriptor,
        argv: argv.as_ptr(),
        env: env.as_ptr(),
        cwd: program.cwd.as_raw_fd(),
        stdio: program.stdio.map(|fd| fd.as_raw_fd()),
        limits: program.limits.as_ptr(),
        limit_count: program.limits.len(),
        umask: program.umask,
        cgroup: program.cgroup.map_or(-1, |fd| fd.as_raw_fd()),
        confined: program.confinement.is_some(),
        ruleset: ruleset.map_or(-1, |fd| fd.as_raw_fd()),
        filter: libc::sock_fprog {
            // The kernel takes 4,096 steps (`BPF_MAXINSNS`); a longer one is refused there.
            len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
            filter: filter.as_ptr().cast_mut(),
        },
        parent: nix::unistd::getpid().as_raw(),
        stage: Stage::Exec as c_int,
        errno: 0,
    };
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    // SAFETY: one past the end of the allocation, which clone takes as the top of a stack that grows down; u128
    // gives the 16 bytes of alignment that the ABI asks for.
    #[expect(unsafe_code, reason = "the top of the child's stack")]
    let top = unsafe { stack.as_mut_ptr().add(stack.len()) };
    // SAFETY: CLONE_VFORK suspends this thread until the child has exec'd or ended, so `stack`, `shared` and all
    // that it points to outlive the child's use of them. The process has no other thread and no signal handler
    // that the child could run. `child` calls only async-signal-safe functions and never returns to this stack.
    #[expect(unsafe_code, reason = "clone(2)")]
    let pid = unsafe {
        libc::clone(
            child,
            top.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut shared).cast(),
        )
    };
    if pid < 0 {
        return Err(SpawnFailure { stage: Stage::Clone, error: io::Error::last_os_error() });
    }
    // SAFETY: `shared` is alive; volatile, because the child wrote it behind the compiler's back.
    #[expect(unsafe_code, reason = "reading what the child wrote")]
    let (errno, stage) =
        unsafe { ((&raw const shared.errno).read_volatile(), (&raw const shared.stage).read_volatile()) };
    if errno == 0 {
        return Ok(pid);
    }
    let _ = super::process::reap(pid);
    let stage = [Stage::Session, Stage::Limit, Stage::Cgroup, Stage::Cwd, Stage::Stdio, Stage::Confine]
        .into_iter()
        .find(|known| *known as c_int == stage)
        .unwrap_or(Stage::Exec);
    Err(SpawnFailure { stage, error: io::Error::from_raw_os_error(errno) })
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Runs in the child, on its own stack, in the parent's memory. Allocates nothing, locks nothing.
extern "C" fn child(argument: *mut c_void) -> c_int {
    // SAFETY: `spawn` passes its `Shared`, alive until this process has exec'd or ended, and the parent is suspended
    // meanwhile. All pointers in it are valid and NUL-terminated as the calls below need them. Every call is
    // async-signal-safe or a plain system call.
    #[expect(unsafe_code, reason = "the child between clone and exec")]
    unsafe {
        let shared = argument.cast::<Shared>();
        let stage = set_up(&*shared);
        let errno = *libc::__errno_location();
        (&raw mut (*shared).stage).write_volatile(stage as c_int);
        (&raw mut (*shared).errno).write_volatile(if errno == 0 { libc::EINVAL } else { errno });
        libc::_exit(127)
    }
}

/// Returns only when something failed, with `errno` set.
///
/// # Safety
/// Only in the child that [`spawn`] makes, with its `Shared`.
#[expect(unsafe_code, reason = "see `child`")]
unsafe fn set_up(shared: &Shared) -> Stage {
    // SAFETY: numbers only, or pointers that `spawn` keeps valid.
    unsafe {
        if libc::setsid() < 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Stage::Session;
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
        for at in 0..shared.limit_count {
            let limit = *shared.limits.add(at);
            let value = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
            if libc::setrlimit(limit.resource, &raw const value) != 0 {
                return Stage::Limit;
            }
        }
        if shared.cgroup >= 0 && libc::write(shared.cgroup, c"0".as_ptr().cast(), 1) != 1 {
            return Stage::Cgroup;
        }
        if libc::fchdir(shared.cwd) != 0 {
            return Stage::Cwd;
        }
        for (to, from) in shared.stdio.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "0, 1 or 2")]
            if libc::dup2(*from, to as c_int) < 0 {
                return Stage::Stdio;
            }
        }
        libc::umask(shared.umask);
        if shared.confined {
            for capability in UNDOING {
                // Refused where there is none to lose: what is out of the bounding set doesn't come back at exec
                // (`capabilities(7)`).
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
                // Lowering costs new credentials even where there is nothing to lower.
                if libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1 {
                    libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_LOWER, capability, 0, 0);
                }
            }
        }
        // Neither Landlock nor a filter can be set by an unprivileged process that could still gain privileges
        // (`landlock_restrict_self(2)`, `seccomp(2)`).
        if shared.confined && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Stage::Confine;
        }
        if shared.ruleset >= 0 && libc::syscall(libc::SYS_landlock_restrict_self, shared.ruleset, 0) != 0 {
            return Stage::Confine;
        }
        close_all_but(shared.descriptor);
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        let filter = &raw const shared.filter;
        if shared.filter.len > 0
            && libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, filter) != 0
        {
            return Stage::Confine;
        }
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
        Stage::Exec
    }
}

/// Closes 3 and up but `kept`, which is close-on-exec. The table is the child's own: `CLONE_FILES` was not asked.
///
/// # Safety
/// Only in the child that [`spawn`] makes.
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
