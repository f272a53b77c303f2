//! Processes: forking a single-threaded one, reaping, pidfds, and what `/proc` tells.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use super::signal::SignalNumber;

/// A process id.
pub type Pid = i32;

/// Proof that this process has one thread, which `fork` needs to leave a child that may run ordinary code.
#[derive(Debug)]
pub struct SingleThreaded(());

impl SingleThreaded {
    /// Looks at `/proc/self/task` (`proc(5)`). The caller starts no thread afterwards.
    pub fn prove() -> io::Result<Self> {
        if std::fs::read_dir("/proc/self/task")?.count() == 1 {
            Ok(Self(()))
        } else {
            Err(io::Error::other("the process has more than one thread"))
        }
    }
}

/// Which side of a fork this is.
#[derive(Debug)]
pub enum Forked {
    /// The parent, with the child's id.
    Parent(Pid),
    /// The child.
    Child,
}

/// `fork(2)`.
pub fn fork(_proof: &SingleThreaded) -> io::Result<Forked> {
    // SAFETY: with one thread, the child's copy of locks and allocator is as consistent as the parent's; see the
    // proof.
    #[expect(unsafe_code, reason = "fork(2)")]
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It called exit, with this status: 0 to 255.
    Exited(i32),
    /// A signal ended it.
    Signaled(SignalNumber),
}

/// What `waitid` says of one child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEvent {
    /// It ended, and is not reaped yet.
    Ended(Pid),
    /// It was stopped by a signal.
    Stopped(Pid),
}

/// Reaps one child that has ended, if there is one. `Err(ECHILD)` says that there is no child at all: the tree of
/// a subreaper is empty (`wait(2)`, `PR_SET_CHILD_SUBREAPER(2const)`).
///
/// Not for a process that has children of a library, such as Node: it takes any child's status.
pub fn reap_any() -> io::Result<Option<(Pid, Ending)>> {
    let mut status: libc::c_int = 0;
    loop {
        // SAFETY: the status pointer is valid for the call.
        #[expect(unsafe_code, reason = "nix's waitpid can't tell real-time signals")]
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        return match pid {
            0 => Ok(None),
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => continue,
                error => Err(error),
            },
            pid if libc::WIFSIGNALED(status) => {
                let signal = SignalNumber::from_raw(libc::WTERMSIG(status)).unwrap_or(SignalNumber::KILL);
                Ok(Some((pid, Ending::Signaled(signal))))
            }
            pid => Ok(Some((pid, Ending::Exited(libc::WEXITSTATUS(status))))),
        };
    }
}

/// The next child that has been stopped, consumed, or that has ended, left to be reaped (`waitid(2)`).
pub fn next_child_event() -> io::Result<Option<ChildEvent>> {
    // Asked for stops only, the kernel says ECHILD where the children that there are have all ended.
    if let Ok(Some(pid)) = wait_id(libc::P_ALL, 0, libc::WSTOPPED | libc::WNOHANG) {
        return Ok(Some(ChildEvent::Stopped(pid)));
    }
    Ok(wait_id(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT)?.map(ChildEvent::Ended))
}

fn wait_id(kind: libc::idtype_t, pid: Pid, flags: libc::c_int) -> io::Result<Option<Pid>> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        // SAFETY: the pointer is valid for the call, which fills the structure or leaves it zeroed.
        #[expect(unsafe_code, reason = "nix's waitid can't tell a real-time signal")]
        let done = unsafe { libc::waitid(kind, pid.cast_unsigned(), info.as_mut_ptr(), flags) };
        if done == 0 {
            break;
        }
        match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
    // SAFETY: zeroed is a valid siginfo_t; after a successful waitid the pid field is set, or 0 for "none".
    #[expect(unsafe_code, reason = "reading what waitid filled in")]
    let pid = unsafe { info.assume_init().si_pid() };
    Ok((pid != 0).then_some(pid))
}

/// Whether the child `pid` has ended. It is left to be reaped.
pub fn has_ended(pid: Pid) -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    matches!(wait_id(libc::P_PID, pid, flags), Ok(Some(_)) | Err(_))
}

/// Reaps the child `pid`, which has ended.
pub fn reap(pid: Pid) -> io::Result<Ending> {
    let mut status: libc::c_int = 0;
    // SAFETY: the status pointer is valid for the call.
    #[expect(unsafe_code, reason = "waitpid(2)")]
    let got = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    if libc::WIFSIGNALED(status) {
        Ok(Ending::Signaled(SignalNumber::from_raw(libc::WTERMSIG(status)).unwrap_or(SignalNumber::KILL)))
    } else {
        Ok(Ending::Exited(libc::WEXITSTATUS(status)))
    }
}

/// The processor time of a process, living or not yet reaped, as the kernel counts it for `RLIMIT_CPU`: by ticks, which
/// on a busy machine may be a quarter more than what `getrusage(2)` measures. `None`: there is no such process.
///
/// A process's clock is `~pid << 3` and its kind (`clock_getcpuclockid(3)`); kind 0, `CPUCLOCK_PROF`, is the one that
/// `check_process_timers` in the kernel's `posix-cpu-timers.c` holds to the limit.
pub fn counted_cpu(pid: Pid) -> Option<Duration> {
    clock_gettime(ClockId::from_raw(!pid << 3)).ok().map(Duration::from)
}

/// Signals a direct child that has not been reaped: its id can't have passed to another process.
pub fn signal_child(child: Pid, signal: SignalNumber) -> io::Result<()> {
    // SAFETY: kill takes numbers only.
    #[expect(unsafe_code, reason = "kill(2)")]
    let done = unsafe { libc::kill(child, signal.as_raw()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A handle on one process, never on a later one with the same id (`pidfd_open(2)`, Linux 5.3).
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Opens a handle on whatever process has the id now.
    pub fn open(pid: Pid) -> io::Result<Self> {
        // SAFETY: pidfd_open takes numbers only.
        #[expect(unsafe_code, reason = "pidfd_open(2) has no wrapper")]
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        match i32::try_from(fd) {
            // SAFETY: the kernel has just made this descriptor for us.
            #[expect(unsafe_code, reason = "taking ownership of a descriptor just made")]
            Ok(fd) if fd >= 0 => Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Signals the process; `ESRCH` once it has been reaped (`pidfd_send_signal(2)`, Linux 5.1).
    pub fn signal(&self, signal: SignalNumber) -> io::Result<()> {
        // SAFETY: the descriptor is open; a null siginfo asks for the one that kill(2) would send.
        #[expect(unsafe_code, reason = "pidfd_send_signal(2) has no wrapper")]
        let done = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.0.as_raw_fd(),
                signal.as_raw(),
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// What `/proc/<pid>/stat` says, as far as a tree needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// The process.
    pub pid: Pid,
    /// Its parent now.
    pub parent: Pid,
    /// `Z` or `X`: it has ended.
    pub ended: bool,
    /// It is on its way out: it has closed its files, or is about to, and runs no code of its own any more.
    pub exiting: bool,
}

/// Getting shut down (`PF_EXITING`), in the flags of `proc_pid_stat(5)`.
const PF_EXITING: u32 = 0x4;

/// Reads one process's `stat`; `None` when it is gone.
pub fn stat(pid: Pid) -> Option<ProcessStat> {
    parse_stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `proc_pid_stat(5)`. The name is in parentheses and may hold anything, so the last one counts.
fn parse_stat(line: &[u8]) -> Option<ProcessStat> {
    let close = line.iter().rposition(|&b| b == b')')?;
    let pid = std::str::from_utf8(line.split(|&b| b == b' ').next()?).ok()?.parse().ok()?;
    let mut rest = std::str::from_utf8(line.get(close + 2..)?).ok()?.split(' ');
    let ended = matches!(rest.next()?, "Z" | "X");
    let parent = rest.next()?.parse().ok()?;
    // After process group, session, terminal and its foreground group.
    let flags: u32 = rest.nth(4)?.parse().ok()?;
    Some(ProcessStat { pid, parent, ended, exiting: ended || flags & PF_EXITING != 0 })
}

/// The process's name, at most 15 bytes (`proc_pid_comm(5)`).
pub fn name(pid: Pid) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(&bytes)).into_owned())
}

/// The children of all threads of `pid`, from `/proc/<pid>/task/<tid>/children`
/// (`CONFIG_PROC_CHILDREN`, Linux 4.2 without checkpoint support). `None` where the kernel lacks it or the
/// process is gone.
pub fn children(pid: Pid) -> Option<Vec<Pid>> {
    let mut all = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        all.extend(text.split_ascii_whitespace().filter_map(|word| word.parse::<Pid>().ok()));
    }
    Some(all)
}

/// Every process that `/proc` shows.
pub fn all() -> Vec<ProcessStat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<Pid>().ok())
        .filter_map(stat)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_does_not_confuse_stat() {
        let parsed = parse_stat(b"42 (a) b (c)) R 7 42 42 0 -1 4194304 9").unwrap();
        assert_eq!(parsed, ProcessStat { pid: 42, parent: 7, ended: false, exiting: false });
        let ended = parse_stat(b"42 (x) Z 7 42 42 0 -1 4228100 9").unwrap();
        assert!(ended.ended && ended.exiting);
        let exiting = parse_stat(b"42 (x) R 7 42 42 0 -1 4194308 9").unwrap();
        assert!(!exiting.ended && exiting.exiting);
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"42 (x"), None);
    }

    #[test]
    fn a_child_that_has_ended_is_told_where_it_is_the_only_one() {
        // `waitid` takes any child: the test runs once more, as a process that has no other.
        const ALONE: &str = "ARGVAULT_ONLY_CHILD";
        if std::env::var_os(ALONE).is_none() {
            let name = "os::process::tests::a_child_that_has_ended_is_told_where_it_is_the_only_one";
            let own = std::env::current_exe().unwrap();
            let output = std::process::Command::new(own).args(["--exact", name]).env(ALONE, "1").output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        while stat(pid).is_some_and(|stat| !stat.ended) {
            std::thread::yield_now();
        }
        assert_eq!(next_child_event().unwrap(), Some(ChildEvent::Ended(pid)));
        child.wait().unwrap();
        assert!(next_child_event().is_err());
    }

    #[test]
    fn the_counted_time_of_a_process_grows_and_outlives_it_until_it_is_reaped() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(30);
        while counted_cpu(pid).unwrap() < Duration::from_millis(50) {
            assert!(std::time::Instant::now() < end, "{:?}", counted_cpu(pid));
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        while stat(pid).is_some_and(|stat| !stat.ended) {
            std::thread::yield_now();
        }
        assert!(counted_cpu(pid).unwrap() >= Duration::from_millis(50));
        child.wait().unwrap();
        assert_eq!(counted_cpu(pid), None);
    }

    #[test]
    fn this_process_is_found_where_proc_is_mounted() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(stat(own).unwrap().pid, own);
        assert!(all().iter().any(|process| process.pid == own));
    }
}
