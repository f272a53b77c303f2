//! Signal numbers, names and dispositions.

use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use std::io;

/// A signal number that the kernel knows: 1 to 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalNumber(i32);

/// The names of `signal(7)`, with the numbers of this architecture.
const NAMES: &[(&str, i32)] = &[
    ("SIGHUP", libc::SIGHUP),
    ("SIGINT", libc::SIGINT),
    ("SIGQUIT", libc::SIGQUIT),
    ("SIGILL", libc::SIGILL),
    ("SIGTRAP", libc::SIGTRAP),
    ("SIGABRT", libc::SIGABRT),
    ("SIGBUS", libc::SIGBUS),
    ("SIGFPE", libc::SIGFPE),
    ("SIGKILL", libc::SIGKILL),
    ("SIGUSR1", libc::SIGUSR1),
    ("SIGSEGV", libc::SIGSEGV),
    ("SIGUSR2", libc::SIGUSR2),
    ("SIGPIPE", libc::SIGPIPE),
    ("SIGALRM", libc::SIGALRM),
    ("SIGTERM", libc::SIGTERM),
    ("SIGSTKFLT", libc::SIGSTKFLT),
    ("SIGCHLD", libc::SIGCHLD),
    ("SIGCONT", libc::SIGCONT),
    ("SIGSTOP", libc::SIGSTOP),
    ("SIGTSTP", libc::SIGTSTP),
    ("SIGTTIN", libc::SIGTTIN),
    ("SIGTTOU", libc::SIGTTOU),
    ("SIGURG", libc::SIGURG),
    ("SIGXCPU", libc::SIGXCPU),
    ("SIGXFSZ", libc::SIGXFSZ),
    ("SIGVTALRM", libc::SIGVTALRM),
    ("SIGPROF", libc::SIGPROF),
    ("SIGWINCH", libc::SIGWINCH),
    ("SIGIO", libc::SIGIO),
    ("SIGPWR", libc::SIGPWR),
    ("SIGSYS", libc::SIGSYS),
];

impl SignalNumber {
    /// The polite request to end.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// The end.
    pub const KILL: Self = Self(libc::SIGKILL);
    /// Lets a stopped process go on.
    pub const CONT: Self = Self(libc::SIGCONT);
    /// The CPU budget is used up.
    pub const XCPU: Self = Self(libc::SIGXCPU);
    /// A file grew past its limit.
    pub const XFSZ: Self = Self(libc::SIGXFSZ);

    /// By its name, `SIGTERM` or `TERM`; `SIGRTMIN+n` for the real-time ones.
    pub fn from_name(name: &str) -> Option<Self> {
        let bare = name.strip_prefix("SIG").unwrap_or(name);
        if let Some(offset) = bare.strip_prefix("RTMIN") {
            let offset = if offset.is_empty() { 0 } else { offset.strip_prefix('+')?.parse::<i32>().ok()? };
            return (0..=30).contains(&offset).then(|| Self(libc::SIGRTMIN() + offset));
        }
        NAMES
            .iter()
            .find(|(known, _)| known.strip_prefix("SIG") == Some(bare))
            .map(|(_, number)| Self(*number))
    }

    /// By its number.
    pub fn from_raw(number: i32) -> Option<Self> {
        (1..=64).contains(&number).then_some(Self(number))
    }

    /// The number.
    pub fn as_raw(self) -> i32 {
        self.0
    }

    /// The name as Node prints it; real-time signals are `SIGRTMIN+n`.
    pub fn name(self) -> String {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => (*name).to_owned(),
            None => format!("SIGRTMIN+{}", self.0 - libc::SIGRTMIN()),
        }
    }

    /// Whether a stopped process should be continued to receive it: not when stopping is what was asked.
    pub fn wakes(self) -> bool {
        !matches!(self.0, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU | libc::SIGCONT)
    }

    /// All names that [`SignalNumber::from_name`] knows but the real-time ones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

/// What warden and keeper ignore, so that neither a terminal nor a broken pipe nor a size limit ends them.
/// SIGKILL and SIGSTOP can't be ignored (`signal(7)`).
const IGNORED: &[libc::c_int] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGPIPE,
    libc::SIGXFSZ,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Ignores what must not end warden or keeper, and restores SIGCHLD's default in case the parent ignored it
/// (an ignored SIGCHLD reaps children by itself, `wait(2)`).
pub fn ignore_what_would_end_us() {
    for &signal in IGNORED {
        // SAFETY: SIG_IGN runs no code of ours.
        #[expect(unsafe_code, reason = "signal(2)")]
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    // SAFETY: SIG_DFL runs no code of ours.
    #[expect(unsafe_code, reason = "signal(2)")]
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Blocks exactly SIGCHLD in this thread, for a signalfd, whatever mask was inherited.
pub fn block_only_sigchld() -> io::Result<SigSet> {
    let mut mask = SigSet::empty();
    mask.add(nix::sys::signal::Signal::SIGCHLD);
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&mask), None)?;
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for name in SignalNumber::names() {
            assert_eq!(SignalNumber::from_name(name).unwrap().name(), name);
        }
        assert_eq!(SignalNumber::from_name("TERM"), Some(SignalNumber::TERM));
        assert_eq!(SignalNumber::from_name("SIGRTMIN+3").unwrap().name(), "SIGRTMIN+3");
        for unknown in ["", "SIG", "sigterm", "SIGNOPE", "15", "SIGRTMIN+99", "SIGRTMIN-1"] {
            assert_eq!(SignalNumber::from_name(unknown), None, "{unknown}");
        }
    }
}
