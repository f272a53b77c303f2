//! A child that is made before there is a command for it: what confinement costs whatever the command is (the filter, which
//! the kernel checks and translates, and the privileges, which are given up one by one) is paid by then.
//!
//! It shares memory and descriptors with its parent and runs only while the parent waits for it.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::process::{self, Pid};
use super::super::signal::SignalNumber;
use super::{Program, Shared, SpawnFailure, Stack, Stage, child, filter_program, outcome, pointers};

/// Where parent and child meet.
pub(super) struct Meeting {
    pub(super) shared: Shared,
    /// [`BEGUN`], [`READY`], and [`GONE`] once it has exec'd or ended.
    pub(super) state: AtomicU32,
    /// [`GO`] once there is a command.
    pub(super) command: AtomicU32,
}

/// What the kernel writes, see [`Meeting::announce_end`].
const GONE: u32 = 0;
const BEGUN: u32 = 1;
const READY: u32 = 2;
const GO: u32 = 1;

impl Meeting {
    /// In the child: has the kernel write [`GONE`] and wake the parent when this process lets go of the memory that they
    /// share, by exec or by its end, however it comes (`set_tid_address(2)`).
    pub(super) fn announce_end(&self) -> bool {
        // SAFETY: the address is this structure's, alive as long as this process uses this memory.
        #[expect(unsafe_code, reason = "set_tid_address(2)")]
        let id = unsafe { libc::syscall(libc::SYS_set_tid_address, self.state.as_ptr()) };
        id > 0
    }
}

/// In the child: says that it is ready, and waits. By the two words alone: the parent writes the rest meanwhile.
pub(super) fn wait_for_command(state: &AtomicU32, command: &AtomicU32) {
    state.store(READY, Ordering::Release);
    wake(state);
    while command.load(Ordering::Acquire) != GO {
        wait(command, 0, None);
    }
}

/// A child that waits for its command, confined by a filter already.
pub struct Waiting {
    pid: Pid,
    /// Raw, for the child uses it too; made by `Box`.
    meeting: *mut Meeting,
    /// Not touched: the child's.
    _stack: Stack,
    /// It is the program's process by now, and what becomes of it is the caller's.
    employed: bool,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Waiting").field("pid", &self.pid).finish_non_exhaustive()
    }
}

/// How often the parent looks whether the child has been killed before it could say anything.
const GLANCE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };

impl Waiting {
    /// Makes one under `filter`, if there is one: without the privileges that a confined program doesn't have.
    pub fn new(filter: Option<&[libc::sock_filter]>) -> Result<Self, SpawnFailure> {
        let shared = Shared {
            executable: std::ptr::null(),
            descriptor: -1,
            argv: std::ptr::null(),
            env: std::ptr::null(),
            cwd: -1,
            stdio: [-1; 3],
            limits: std::ptr::null(),
            limit_count: 0,
            umask: 0,
            cgroup: -1,
            confined: true,
            ruleset: -1,
            filter: filter_program(filter),
            parent: nix::unistd::getpid().as_raw(),
            stage: Stage::Exec as i32,
            errno: 0,
        };
        let state = AtomicU32::new(BEGUN);
        let meeting = Box::into_raw(Box::new(Meeting { shared, state, command: AtomicU32::new(0) }));
        let mut stack = Stack::new();
        // SAFETY: `meeting` and the stack outlive the child's use of them: what holds them kills and reaps it first. The
        // process has no other thread and no signal handler that the child could run. `ahead` calls only
        // async-signal-safe functions, never returns to this stack, and runs only while this process waits for it.
        #[expect(unsafe_code, reason = "clone(2)")]
        let pid = unsafe {
            let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::SIGCHLD;
            libc::clone(child::ahead, stack.top(), flags, meeting.cast())
        };
        if pid < 0 {
            let error = io::Error::last_os_error();
            // SAFETY: made by `Box` above, and there is no child.
            #[expect(unsafe_code, reason = "giving back what was taken from a box")]
            drop(unsafe { Box::from_raw(meeting) });
            return Err(SpawnFailure { stage: Stage::Clone, error });
        }
        let mut waiting = Self { pid, meeting, _stack: stack, employed: false };
        while waiting.state() == BEGUN {
            wait(waiting.state_word(), BEGUN, Some(&GLANCE));
            if waiting.state() == BEGUN && process::has_ended(pid) {
                break; // killed before it could ask for its end to be told
            }
        }
        if waiting.state() == READY {
            return Ok(waiting);
        }
        // SAFETY: alive, and the child is gone.
        #[expect(unsafe_code, reason = "reading what the child wrote")]
        match unsafe { outcome(pid, &raw const (*meeting).shared) } {
            // Reaped on the way.
            Err(failure) => {
                waiting.employed = true;
                Err(failure)
            }
            Ok(_) => {
                Err(SpawnFailure { stage: Stage::Clone, error: io::Error::from_raw_os_error(libc::ESRCH) })
            }
        }
    }

    /// Makes it the process of `program`, as [`spawn`](super::spawn) would; of its confinement only the ruleset is looked at.
    /// `None`: it is gone, and nothing ran.
    pub fn start(mut self, program: &Program<'_>) -> Option<Result<Pid, SpawnFailure>> {
        if self.state() != READY {
            return None;
        }
        let argv = pointers(program.argv);
        let env = pointers(program.env);
        // SAFETY: alive, and the child doesn't look at it before it is told to go.
        #[expect(unsafe_code, reason = "writing what the child reads")]
        unsafe {
            (&raw mut (*self.meeting).shared).write(Shared::of(program, &argv, &env));
        }
        // SAFETY: alive; only this field is borrowed.
        #[expect(unsafe_code, reason = "a word that both use")]
        let command = unsafe { &(*self.meeting).command };
        command.store(GO, Ordering::Release);
        wake(command);
        while self.state() != GONE {
            wait(self.state_word(), READY, None);
        }
        self.employed = true;
        // SAFETY: alive, and the child is done with it.
        #[expect(unsafe_code, reason = "reading what the child wrote")]
        Some(unsafe { outcome(self.pid, &raw const (*self.meeting).shared) })
    }

    fn state_word(&self) -> &AtomicU32 {
        // SAFETY: alive as long as this; only this field is borrowed.
        #[expect(unsafe_code, reason = "a word that both use")]
        unsafe {
            &(*self.meeting).state
        }
    }

    fn state(&self) -> u32 {
        self.state_word().load(Ordering::Acquire)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.employed {
            let _ = process::signal_child(self.pid, SignalNumber::KILL);
            let _ = process::reap(self.pid);
        }
        // SAFETY: made by `Box`, and the child doesn't use it any more: it has exec'd or has been reaped.
        #[expect(unsafe_code, reason = "giving back what was taken from a box")]
        drop(unsafe { Box::from_raw(self.meeting) });
    }
}

/// Waits while `word` is `value` (`futex(2)`), for `most` at most. Returns early now and then. Not `FUTEX_PRIVATE_FLAG`:
/// the kernel's own wake-up of [`Meeting::announce_end`] doesn't have it.
fn wait(word: &AtomicU32, value: u32, most: Option<&libc::timespec>) {
    let most = most.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time, if there is one, are borrowed for the call, which only reads them.
    #[expect(unsafe_code, reason = "futex(2)")]
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, most);
    }
}

/// Wakes the one who waits for `word`.
fn wake(word: &AtomicU32) {
    // SAFETY: the word is borrowed for the call.
    #[expect(unsafe_code, reason = "futex(2)")]
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1);
    }
}
