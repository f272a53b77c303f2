//! Starting a program from a keeper: `clone(CLONE_VM | CLONE_VFORK)`, a fixed set-up, exec.
//!
//! The child shares the parent's memory until it has exec'd or ended, and the parent waits for that
//! (`clone(2)`), so the stage and errno of a failure come back through memory, without a pipe.

mod ahead;
mod child;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

pub use self::ahead::Waiting;
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

impl Shared {
    /// For `program`; `argv` and `env` are its lists as [`pointers`] makes them, and outlive this.
    fn of(program: &Program<'_>, argv: &[*const c_char], env: &[*const c_char]) -> Self {
        let (executable, descriptor) = match program.executable {
            Executable::Path(path) => (path.as_ptr(), -1),
            Executable::Descriptor(fd) => (c"".as_ptr(), fd.as_raw_fd()),
        };
        let confinement = program.confinement;
        Self {
            executable,
            descriptor,
            argv: argv.as_ptr(),
            env: env.as_ptr(),
            cwd: program.cwd.as_raw_fd(),
            stdio: program.stdio.map(|fd| fd.as_raw_fd()),
            limits: program.limits.as_ptr(),
            limit_count: program.limits.len(),
            umask: program.umask,
            cgroup: program.cgroup.map_or(-1, |fd| fd.as_raw_fd()),
            confined: confinement.is_some(),
            ruleset: confinement.and_then(|confinement| confinement.ruleset).map_or(-1, |fd| fd.as_raw_fd()),
            filter: filter_program(confinement.and_then(|confinement| confinement.filter)),
            parent: nix::unistd::getpid().as_raw(),
            stage: Stage::Exec as c_int,
            errno: 0,
        }
    }
}

/// As `seccomp(2)` takes it. The kernel takes 4,096 steps (`BPF_MAXINSNS`); a longer one is refused there.
fn filter_program(steps: Option<&[libc::sock_filter]>) -> libc::sock_fprog {
    let steps = steps.unwrap_or_default();
    libc::sock_fprog {
        len: u16::try_from(steps.len()).unwrap_or(u16::MAX),
        filter: steps.as_ptr().cast_mut(),
    }
}

/// The child's stack. It calls a few system-call wrappers of libc, none of which needs more than a page or two.
const STACK_BYTES: usize = 64 * 1024;

/// Memory for it, none of which is touched here: a page that nobody uses takes no room.
struct Stack(Vec<u128>);

impl Stack {
    fn new() -> Self {
        Self(Vec::with_capacity(STACK_BYTES / size_of::<u128>()))
    }

    fn top(&mut self) -> *mut c_void {
        // SAFETY: one past the end of the allocation, which clone takes as the top of a stack that grows down; u128
        // gives the 16 bytes of alignment that the ABI asks for.
        #[expect(unsafe_code, reason = "the top of the child's stack")]
        unsafe {
            self.0.as_mut_ptr().add(self.0.capacity()).cast()
        }
    }
}

/// Starts `program` as a child of this single-threaded process. It leads its own session, has default signal
/// dispositions and an empty mask, no descriptor but 0 to 2, and is killed when this process ends
/// (`PR_SET_PDEATHSIG(2const)`).
pub fn spawn(program: &Program<'_>) -> Result<Pid, SpawnFailure> {
    let argv = pointers(program.argv);
    let env = pointers(program.env);
    let mut shared = Shared::of(program, &argv, &env);
    let mut stack = Stack::new();
    // SAFETY: CLONE_VFORK suspends this thread until the child has exec'd or ended, so `stack`, `shared` and all
    // that it points to outlive the child's use of them. The process has no other thread and no signal handler
    // that the child could run. `at_once` calls only async-signal-safe functions and never returns to this stack.
    #[expect(unsafe_code, reason = "clone(2)")]
    let pid = unsafe {
        libc::clone(
            child::at_once,
            stack.top(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut shared).cast(),
        )
    };
    if pid < 0 {
        return Err(SpawnFailure { stage: Stage::Clone, error: io::Error::last_os_error() });
    }
    // SAFETY: `shared` is alive, and the child is done with it.
    #[expect(unsafe_code, reason = "reading what the child wrote")]
    unsafe {
        outcome(pid, &raw const shared)
    }
}

/// What became of the child.
///
/// # Safety
/// `shared` is the child's, alive, and the child doesn't use it any more.
#[expect(unsafe_code, reason = "reading what the child wrote")]
unsafe fn outcome(pid: Pid, shared: *const Shared) -> Result<Pid, SpawnFailure> {
    // SAFETY: the caller's word; volatile, because the child wrote it behind the compiler's back.
    let (errno, stage) = unsafe {
        ((&raw const (*shared).errno).read_volatile(), (&raw const (*shared).stage).read_volatile())
    };
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
