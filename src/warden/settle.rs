//! What a command's end says in its record. Pure but for the reading of the tree's usage.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::notes::{LimitHit, Notes};
use super::protocol::Limits;
use crate::confinement::Confined;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::vault::record::{Cause, Containment, MainExit, Outcome, Unkillable, Usage};

/// Everything that a keeper knows when the tree is empty.
pub struct Ended {
    /// The first cause.
    pub cause: Cause,
    /// How the main process ended.
    pub main_exit: Option<MainExit>,
    /// Since the program's start.
    pub duration: Duration,
    /// The time budget, for its message.
    pub budget_ms: u64,
    /// From the first signal to SIGKILL, for its message.
    pub kill_grace: Duration,
    /// Bytes kept of stdout and stderr.
    pub kept: [u64; 2],
    /// Signals sent and troubles met.
    pub notes: Notes,
    /// The command's limits, for their message.
    pub limits: Limits,
    /// How many strays were ended.
    pub strays: u64,
    /// The first of their names.
    pub stray_names: Vec<String>,
    /// Those that could not be ended.
    pub unkillable: Vec<Unkillable>,
    /// A pipe is held outside the tree.
    pub held_outside: bool,
    /// The tree was in a leaf of its own.
    pub in_cgroup: bool,
    /// What it was confined to.
    pub confinement: Option<Confined>,
}

impl Ended {
    /// No program ran.
    pub fn nothing_ran(cause: Cause, limits: Limits) -> Self {
        Self {
            cause,
            main_exit: None,
            duration: Duration::ZERO,
            budget_ms: 0,
            kill_grace: Duration::ZERO,
            kept: [0, 0],
            notes: Notes::default(),
            limits,
            strays: 0,
            stray_names: Vec::new(),
            unkillable: Vec::new(),
            held_outside: false,
            in_cgroup: false,
            confinement: None,
        }
    }
}

/// The outcome as it is recorded.
pub fn outcome(ended: Ended) -> Outcome {
    let error = explain(&ended);
    let [stdout_bytes, stderr_bytes] = ended.kept;
    Outcome {
        cause: ended.cause,
        settled_at: epoch_ms(),
        duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        main_exit: ended.main_exit,
        error,
        stdout_bytes,
        stderr_bytes,
        strays: ended.strays,
        stray_names: ended.stray_names,
        unkillable: ended.unkillable,
        output_held_outside: ended.held_outside,
        usage: tree_usage(),
        containment: if ended.in_cgroup { Containment::Cgroup } else { Containment::Subreaper },
        confinement: ended.confinement,
    }
}

/// One sentence for a cause that wants one.
fn explain(ended: &Ended) -> Option<String> {
    let trouble = ended.notes.trouble.as_ref();
    let killed = || {
        let signal = ended.notes.signal.unwrap_or(SignalNumber::TERM).name();
        if ended.notes.escalated {
            let grace = ended.kill_grace.as_millis();
            format!("was killed with {signal}, and with SIGKILL after {grace}ms of grace")
        } else {
            format!("was killed with {signal}")
        }
    };
    match ended.cause {
        Cause::Exit | Cause::StartFailed => trouble.map(|trouble| {
            format!("after the program had ended, {}; what came later is lost", trouble.error)
        }),
        Cause::Signal => None,
        Cause::Kill | Cause::KillAll => Some(match &ended.notes.changed {
            Some(changed) => {
                format!("{} because its file changed while it was being started: {changed}", killed())
            }
            None => killed(),
        }),
        Cause::Abort => Some(format!("{} because its abort signal fired", killed())),
        Cause::HostGone => Some(format!("{} because the process that started it is gone", killed())),
        Cause::KeeperLost => Some("its keeper was killed; the tree was ended without it".into()),
        Cause::Timeout => Some(format!(
            "exceeded its {}ms budget and {}; what it wrote is banked in full",
            ended.budget_ms,
            killed()
        )),
        Cause::Storage => {
            trouble.map(|trouble| format!("{}; what was written before is kept", trouble.error))
        }
        Cause::OutputLimit | Cause::TotalOutputLimit => {
            trouble.map(|trouble| format!("{}; everything up to it is banked in full", trouble.error))
        }
        Cause::Limit => Some(explain_limit(ended)),
    }
}

fn explain_limit(ended: &Ended) -> String {
    let Limits { cpu_seconds, file_size_bytes, memory_bytes, .. } = ended.limits;
    match (ended.notes.limit, cpu_seconds, file_size_bytes, memory_bytes) {
        (Some(LimitHit::Cpu), Some(seconds), ..) => {
            format!("used up its limit of {seconds} CPU seconds (limits.cpuSeconds)")
        }
        (Some(LimitHit::FileSize), _, Some(bytes), _) => {
            format!("wrote a file beyond its limit of {bytes} bytes (limits.fileSizeBytes)")
        }
        (Some(LimitHit::Memory), _, _, Some(bytes)) => {
            format!("exceeded its limit of {bytes} bytes of memory (limits.memoryBytes)")
        }
        _ => "ran into one of its limits".into(),
    }
}

/// What all reaped descendants used. The largest resident set is one process's, not their sum (`getrusage(2)`).
fn tree_usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Usage::default() };
    let ms = |time: TimeVal| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1000 + u64::try_from(time.tv_usec()).unwrap_or(0) / 1000
    };
    Usage {
        user_ms: ms(usage.user_time()),
        system_ms: ms(usage.system_time()),
        max_rss_bytes: u64::try_from(usage.max_rss()).unwrap_or(0) * 1024,
    }
}

#[cfg(test)]
mod tests {
    use super::super::capture::Trouble;
    use super::*;

    fn ended(cause: Cause) -> Ended {
        let kill_grace = Duration::from_millis(50);
        Ended { budget_ms: 400, kill_grace, ..Ended::nothing_ran(cause, Limits::default()) }
    }

    #[test]
    fn the_words_that_callers_rely_on_stand_in_the_error() {
        let mut timeout = ended(Cause::Timeout);
        timeout.notes.escalated = true;
        let text = explain(&timeout).unwrap();
        assert!(text.contains("exceeded its 400ms budget") && text.contains("banked in full"), "{text}");
        assert!(text.contains("SIGKILL after 50ms"), "{text}");
        assert_eq!(explain(&ended(Cause::Kill)).unwrap(), "was killed with SIGTERM");
        assert_eq!(explain(&ended(Cause::Exit)), None);
    }

    #[test]
    fn output_lost_after_the_program_had_ended_is_still_told() {
        let mut exit = ended(Cause::Exit);
        exit.notes.trouble =
            Some(Trouble { cause: Cause::OutputLimit, error: "stdout exceeded its limit of 1 bytes".into() });
        assert!(explain(&exit).unwrap().contains("exceeded its limit"));
    }

    #[test]
    fn a_limit_is_named() {
        let mut limit = ended(Cause::Limit);
        limit.limits.cpu_seconds = Some(3);
        limit.notes.limit = Some(LimitHit::Cpu);
        assert!(explain(&limit).unwrap().contains("3 CPU seconds"));
    }
}
