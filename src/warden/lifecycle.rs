//! The life of one command as a pure state machine: no clock, no I/O. Time comes in as an argument.
//!
//! ```text
//! Running ──main ended by itself──► Straying ──grace over, pipes closed, order──► Ending ──grace──► Killing
//!    └──────order, budget, cap, storage, host gone──────────────────────────────────▲
//! ```
//! The tree being empty settles the command from any phase; that is the keeper's to see.

use std::time::{Duration, Instant};

use crate::limits;
use crate::os::signal::SignalNumber;
use crate::vault::record::Cause;

/// The spans that a command was given.
#[derive(Debug, Clone, Copy)]
pub struct Timings {
    /// The time budget.
    pub budget: Duration,
    /// From the first signal to SIGKILL.
    pub kill_grace: Duration,
    /// What strays may take.
    pub stray_grace: Duration,
}

/// Where the command is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The main process runs.
    Running,
    /// The main process has ended by itself; others may finish until then.
    Straying {
        /// When they are ended.
        until: Instant,
    },
    /// The tree has been signalled and may clean up until then.
    Ending {
        /// When it is killed.
        until: Instant,
    },
    /// The tree is being killed, round by round.
    Killing {
        /// When what is left is given up as unkillable.
        until: Instant,
    },
}

/// What the keeper has to do to the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Wait,
    /// Send a signal to all of it.
    Signal(SignalNumber),
    /// Begin to kill.
    Kill,
    /// Settle with what is left.
    GiveUp,
}

/// The machine.
#[derive(Debug)]
pub struct Lifecycle {
    timings: Timings,
    deadline: Instant,
    phase: Phase,
    cause: Option<Cause>,
}

impl Lifecycle {
    /// A command whose program starts `now`.
    pub fn new(timings: Timings, now: Instant) -> Self {
        Self { timings, deadline: now + timings.budget, phase: Phase::Running, cause: None }
    }

    /// Why it will have been over; none while it simply runs.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the main process ended by itself, and others outlive it undisturbed.
    pub fn is_straying(&self) -> bool {
        matches!(self.phase, Phase::Straying { .. })
    }

    /// The main process has ended, `cause` being what that means if nothing came before. `pipes_open` says whether
    /// anybody may still write.
    pub fn main_ended(&mut self, cause: Cause, pipes_open: bool, now: Instant) {
        if self.cause.is_none() {
            self.cause = Some(cause);
        }
        if self.phase == Phase::Running {
            let grace = if pipes_open { now + self.timings.stray_grace } else { now };
            self.phase = Phase::Straying { until: grace.min(self.deadline.max(now)) };
        }
    }

    /// Nobody can write any more: strays have nothing left to say.
    pub fn pipes_closed(&mut self, now: Instant) {
        if self.is_straying() {
            self.phase = Phase::Straying { until: now };
        }
    }

    /// The tree is to end: for `cause` if that is the first, with `signal` first.
    pub fn end(&mut self, cause: Cause, signal: SignalNumber, now: Instant) -> Action {
        if self.cause.is_none() {
            self.cause = Some(cause);
        }
        match self.phase {
            Phase::Killing { .. } => Action::Wait,
            _ if signal == SignalNumber::KILL => self.kill(now),
            // A second request is passed on, and doesn't extend the grace.
            Phase::Ending { .. } => Action::Signal(signal),
            Phase::Running | Phase::Straying { .. } => {
                self.phase = Phase::Ending { until: now + self.timings.kill_grace };
                Action::Signal(signal)
            }
        }
    }

    fn kill(&mut self, now: Instant) -> Action {
        self.phase = Phase::Killing { until: now + Duration::from_millis(limits::UNKILLABLE_AFTER_MS) };
        Action::Kill
    }

    /// When [`Lifecycle::due`] has to be asked at the latest.
    pub fn next_deadline(&self) -> Instant {
        match self.phase {
            Phase::Running => self.deadline,
            Phase::Straying { until } | Phase::Ending { until } | Phase::Killing { until } => until,
        }
    }

    /// What time asks for at `now`.
    pub fn due(&mut self, now: Instant) -> Action {
        if now < self.next_deadline() {
            return Action::Wait;
        }
        match self.phase {
            Phase::Running => self.end(Cause::Timeout, SignalNumber::TERM, now),
            // The cause is set already: the main process ended by itself.
            Phase::Straying { .. } => self.end(Cause::Exit, SignalNumber::TERM, now),
            Phase::Ending { .. } => self.kill(now),
            Phase::Killing { .. } => Action::GiveUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn machine(budget: u64) -> (Lifecycle, Instant) {
        let now = Instant::now();
        let timings = Timings { budget: MS(budget), kill_grace: MS(50), stray_grace: MS(20) };
        (Lifecycle::new(timings, now), now)
    }

    #[test]
    fn a_budget_that_runs_out_terminates_then_kills_then_gives_up() {
        let (mut life, now) = machine(100);
        assert_eq!(life.due(now + MS(99)), Action::Wait);
        assert_eq!(life.due(now + MS(100)), Action::Signal(SignalNumber::TERM));
        assert_eq!(life.cause(), Some(Cause::Timeout));
        assert_eq!(life.due(now + MS(149)), Action::Wait);
        assert_eq!(life.due(now + MS(150)), Action::Kill);
        assert_eq!(life.due(now + MS(150 + limits::UNKILLABLE_AFTER_MS)), Action::GiveUp);
    }

    #[test]
    fn the_first_cause_wins_whatever_comes_after() {
        let (mut life, now) = machine(100);
        life.end(Cause::OutputLimit, SignalNumber::TERM, now);
        life.end(Cause::Kill, SignalNumber::TERM, now);
        life.main_ended(Cause::Signal, true, now);
        life.due(now + MS(200));
        assert_eq!(life.cause(), Some(Cause::OutputLimit));
    }

    #[test]
    fn strays_have_their_grace_and_the_exit_stands() {
        let (mut life, now) = machine(100);
        life.main_ended(Cause::Exit, true, now);
        assert_eq!(life.due(now + MS(19)), Action::Wait);
        assert_eq!(life.due(now + MS(20)), Action::Signal(SignalNumber::TERM));
        assert_eq!(life.cause(), Some(Cause::Exit));
    }

    #[test]
    fn strays_never_outlast_the_budget_or_their_pipes() {
        let (mut life, now) = machine(10);
        life.main_ended(Cause::Exit, true, now + MS(5));
        assert_eq!(life.due(now + MS(10)), Action::Signal(SignalNumber::TERM));

        let (mut life, now) = machine(100);
        life.main_ended(Cause::Exit, true, now);
        life.pipes_closed(now + MS(1));
        assert_eq!(life.due(now + MS(1)), Action::Signal(SignalNumber::TERM));
    }

    #[test]
    fn a_second_request_is_passed_on_and_kill_cuts_the_grace_short() {
        let (mut life, now) = machine(100);
        assert_eq!(life.end(Cause::Kill, SignalNumber::TERM, now), Action::Signal(SignalNumber::TERM));
        let hup = SignalNumber::from_name("SIGHUP").unwrap();
        assert_eq!(life.end(Cause::Kill, hup, now + MS(40)), Action::Signal(hup));
        assert_eq!(life.next_deadline(), now + MS(50));
        assert_eq!(life.end(Cause::Kill, SignalNumber::KILL, now + MS(41)), Action::Kill);
        assert_eq!(life.end(Cause::Kill, SignalNumber::KILL, now + MS(42)), Action::Wait);
    }

    #[test]
    fn the_longest_budget_does_not_overflow() {
        let (life, _) = machine(limits::MAX_SAFE_INTEGER);
        assert!(life.next_deadline() > Instant::now());
    }
}
