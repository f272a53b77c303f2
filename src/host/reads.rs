//! How commands stand. What is not live in this process is read from the vault's files.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use super::CommandHost;
use super::error::HostError;
use super::status::{LiveState, Output, Status};
use crate::error::Error;
use crate::input::{Fields, InputError, Value};
use crate::limits;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::supervisor::live::Standing;
use crate::vault::error::VaultError;
use crate::vault::id::{Stream, TaskId};
use crate::vault::layout;
use crate::vault::record::{Cause, CommandFile, MainExit, Outcome};
use crate::vault::store::{Found, Vault};
use crate::vault::text::{self, Tail};

/// A command, looked at; its output is not.
pub(super) struct Sight {
    /// What was started.
    pub command: Arc<CommandFile>,
    /// How it stands.
    pub state: SightState,
}

/// How a command stands.
pub(super) enum SightState {
    /// It is not over.
    Live {
        /// `queued` or `running`.
        state: LiveState,
        /// Since its start.
        duration_ms: u64,
        /// How its main process ended, if it has.
        main_exit: Option<MainExit>,
    },
    /// It is over.
    Settled(Arc<Outcome>),
    /// Nobody has it, and no outcome was written: this one says so.
    Abandoned(Arc<Outcome>),
}

impl Sight {
    /// Whether the command's streams may still grow.
    pub fn tail(&self) -> Tail {
        match self.state {
            SightState::Live { .. } => Tail::Growing,
            SightState::Settled(_) | SightState::Abandoned(_) => Tail::Final,
        }
    }
}

impl CommandHost {
    /// What was started, from memory while it is live.
    pub(super) fn command_of(&self, task: &TaskId) -> Result<Arc<CommandFile>, Error> {
        match self.registry.get(task) {
            Some(live) => Ok(live.command),
            None => Ok(Arc::new(self.vault()?.command(task)?)),
        }
    }

    /// Looks at a command.
    pub(super) fn sight(&self, task: &TaskId) -> Result<Sight, Error> {
        if let Some(live) = self.registry.get(task) {
            let running_ms = u64::try_from(live.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let running = |main_exit| SightState::Live {
                state: LiveState::Running,
                duration_ms: running_ms,
                main_exit,
            };
            let state = match live.standing.borrow().clone() {
                Standing::Queued => {
                    SightState::Live { state: LiveState::Queued, duration_ms: 0, main_exit: None }
                }
                Standing::Running => running(None),
                Standing::MainEnded(exit) => running(Some(exit)),
                Standing::Settled(settlement) => SightState::Settled(settlement.outcome),
            };
            return Ok(Sight { command: live.command, state });
        }
        let vault = self.vault()?;
        let command = Arc::new(vault.command(task)?);
        let state = match vault.find(task)? {
            Found::Settled(outcome) => SightState::Settled(Arc::from(outcome)),
            Found::Live if command.queued => {
                SightState::Live { state: LiveState::Queued, duration_ms: 0, main_exit: None }
            }
            Found::Live => SightState::Live {
                state: LiveState::Running,
                duration_ms: epoch_ms().saturating_sub(command.started_at),
                main_exit: None,
            },
            Found::Abandoned { began } => {
                SightState::Abandoned(Arc::new(abandoned(vault, task, &command, began)))
            }
        };
        Ok(Sight { command, state })
    }

    /// How a command stands. Reads at most [`limits::STATUS_READ_BYTES`] of its output.
    pub fn status(&self, task: &str) -> Result<Status, Error> {
        let id = known(task)?;
        let sight = self.sight(&id)?;
        if sight.tail() == Tail::Final {
            self.registry.seen(&id);
        }
        Ok(self.status_of(&id, sight))
    }

    /// The status of a command that was looked at.
    pub(super) fn status_of(&self, task: &TaskId, sight: Sight) -> Status {
        let Sight { command, state } = sight;
        match state {
            SightState::Live { state, duration_ms, main_exit } => {
                Status::live(state, &command, duration_ms, main_exit, self.output(task, Tail::Growing))
            }
            SightState::Settled(outcome) | SightState::Abandoned(outcome) => {
                self.settled_status(task, &command, &outcome)
            }
        }
    }

    pub(super) fn settled_status(&self, task: &TaskId, command: &CommandFile, outcome: &Outcome) -> Status {
        let output = match (outcome.stdout_bytes, outcome.stderr_bytes) {
            (0, 0) => Output { bytes: [0, 0], tail: text::NO_OUTPUT.to_owned(), heads: Default::default() },
            _ => self.output(task, Tail::Final),
        };
        Status::settled(task, command, outcome, output)
    }

    /// What the files say. A vault that was removed underneath says nothing: the status is still told.
    fn output(&self, task: &TaskId, tail: Tail) -> Output {
        let files = || -> Result<[File; 2], Error> {
            let vault = self.vault()?;
            Ok([vault.stream(task, Stream::Stdout)?, vault.stream(task, Stream::Stderr)?])
        };
        let Ok([stdout, stderr]) = files() else {
            return Output { bytes: [0, 0], tail: String::new(), heads: [String::new(), String::new()] };
        };
        let size = |file: &File| file.metadata().map_or(0, |meta| meta.len());
        let head = |file: &File| match tail {
            Tail::Growing => String::new(),
            Tail::Final => text::head_preview(file, tail, limits::DEFAULT_PREVIEW_UNITS)
                .map_or_else(|_| String::new(), |head| head.text),
        };
        Output {
            bytes: [size(&stdout), size(&stderr)],
            tail: text::tail_preview(&stdout, &stderr, tail, limits::TAIL_PREVIEW_UNITS).unwrap_or_default(),
            heads: [head(&stdout), head(&stderr)],
        }
    }
}

/// The `timeoutMs` of a wait.
pub fn read_wait(options: &Value) -> Result<Option<Duration>, InputError> {
    let mut fields = Fields::of(options, "options")?;
    let timeout = fields.field("timeoutMs").unsigned_integer()?;
    fields.finish()?;
    Ok(timeout.map(Duration::from_millis))
}

/// The signal of a kill; absent is SIGTERM.
pub fn read_signal(value: &Value) -> Result<SignalNumber, Error> {
    match value {
        Value::Absent => Ok(SignalNumber::TERM),
        Value::Text(name) => SignalNumber::from_name(name)
            .ok_or_else(|| HostError::UnknownSignal { given: crate::input::quoted(name) }.into()),
        other => Err(HostError::UnknownSignal { given: other.describe() }.into()),
    }
}

/// The outcome of a command that nobody has and that left none: what can be told from its files.
fn abandoned(vault: &Vault, task: &TaskId, command: &CommandFile, began: bool) -> Outcome {
    let (cause, error) = match (command.queued, began) {
        (true, _) => (Cause::HostGone, "the host ended while the command waited for its turn; nothing ran"),
        (false, false) => (Cause::HostGone, "the host ended before the program was started; nothing ran"),
        (false, true) => (
            Cause::KeeperLost,
            "keeper and warden were both killed, or the machine went down; no outcome was written",
        ),
    };
    let mut outcome = Outcome { settled_at: command.started_at, ..Outcome::bare(cause, error) };
    if let Ok(folder) = vault.folder(task) {
        outcome.stdout_bytes = layout::size_of(&folder, layout::STDOUT);
        outcome.stderr_bytes = layout::size_of(&folder, layout::STDERR);
    }
    outcome
}

/// The task that `text` names.
pub(super) fn known(text: &str) -> Result<TaskId, Error> {
    TaskId::parse(text).ok_or_else(|| VaultError::UnknownTask { id: cut(text) }.into())
}

fn cut(text: &str) -> String {
    const SHOWN: usize = 80;
    text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
