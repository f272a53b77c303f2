//! What is noted while a command runs, for the words of its record.

use std::time::Duration;

use super::capture::Trouble;
use super::launch;
use super::protocol::Limits;
use crate::os::signal::SignalNumber;

/// Of the slowest clock that Linux is built with (`CONFIG_HZ=100`).
const TWO_TICKS: Duration = Duration::from_millis(20);

/// What the record's `error` is made of.
#[derive(Debug, Default)]
pub struct Notes {
    /// The first signal that was sent on request or by the clock.
    pub signal: Option<SignalNumber>,
    /// SIGKILL was needed after it.
    pub escalated: bool,
    /// What went wrong with output, first.
    pub trouble: Option<Trouble>,
    /// The pinned file changed while it was being started.
    pub changed: Option<String>,
    /// The limit that the main process ran into.
    pub limit: Option<LimitHit>,
}

/// A limit whose reaching shows in how the main process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitHit {
    /// `cpuSeconds`.
    Cpu,
    /// `fileSizeBytes`.
    FileSize,
    /// `memoryBytes`.
    Memory,
}

impl LimitHit {
    /// The limit that this signal of the main process shows, if it is how one does. `counted_cpu` is the time by which the
    /// kernel holds it to its limit.
    pub fn shown_by(
        signal: SignalNumber,
        limits: &Limits,
        out_of_memory: impl Fn() -> bool,
        counted_cpu: Option<Duration>,
    ) -> Option<Self> {
        match signal {
            SignalNumber::XCPU => limits.cpu_seconds.map(|_| Self::Cpu),
            SignalNumber::XFSZ => limits.file_size_bytes.map(|_| Self::FileSize),
            SignalNumber::KILL if out_of_memory() => Some(Self::Memory),
            // A program that ignores SIGXCPU gets SIGKILL at the hard limit, which says nothing by itself. It may have been
            // looked at one tick before the last one.
            SignalNumber::KILL => {
                let hard = Duration::from_secs(launch::cpu_seconds_until_kill(limits.cpu_seconds?));
                (counted_cpu? + TWO_TICKS >= hard).then_some(Self::Cpu)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_the_limit_of_processor_time_only_when_that_is_used_up() {
        let limits = Limits { cpu_seconds: Some(1), ..Limits::default() };
        let shown =
            |ms| LimitHit::shown_by(SignalNumber::KILL, &limits, || false, Some(Duration::from_millis(ms)));
        assert_eq!(
            (shown(1_900), shown(1_985), shown(2_001)),
            (None, Some(LimitHit::Cpu), Some(LimitHit::Cpu))
        );
        let unlimited = Limits::default();
        let long = Some(Duration::from_secs(100));
        assert_eq!(LimitHit::shown_by(SignalNumber::KILL, &unlimited, || false, long), None);
        assert_eq!(LimitHit::shown_by(SignalNumber::XCPU, &unlimited, || false, long), None);
        let memory = LimitHit::shown_by(SignalNumber::KILL, &limits, || true, None);
        assert_eq!(memory, Some(LimitHit::Memory));
    }
}
