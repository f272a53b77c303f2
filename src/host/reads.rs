//! Looking at commands: status, output, artifacts. All of it is read from the vault's files.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use serde::Serialize;

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
use crate::vault::id::{ArtifactId, Stream, TaskId};
use crate::vault::record::{Cause, CommandFile, MainExit, Outcome};
use crate::vault::store::Found;
use crate::vault::text::{self, PageRequest, Tail, TextIndex, TextPage};

/// A page of a command's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputPage {
    task_id: String,
    stream: &'static str,
    #[serde(flatten)]
    page: TextPage,
}

impl CommandHost {
    /// What was started, from memory while it is live.
    pub(super) fn command_of(&self, task: &TaskId) -> Result<std::sync::Arc<CommandFile>, Error> {
        match self.registry.get(task) {
            Some(live) => Ok(live.command),
            None => Ok(std::sync::Arc::new(self.vault()?.command(task)?)),
        }
    }

    /// How a command stands. Reads at most [`limits::STATUS_READ_BYTES`] of its output.
    pub fn status(&self, task: &str) -> Result<Status, Error> {
        let id = known(task)?;
        if let Some(live) = self.registry.get(&id) {
            let running_ms = u64::try_from(live.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let standing = live.standing.borrow().clone();
            return Ok(match standing {
                Standing::Queued => self.live_status(LiveState::Queued, &id, &live.command, 0, None),
                Standing::Running => {
                    self.live_status(LiveState::Running, &id, &live.command, running_ms, None)
                }
                Standing::MainEnded(exit) => {
                    self.live_status(LiveState::Running, &id, &live.command, running_ms, Some(exit))
                }
                Standing::Settled(settlement) => {
                    self.registry.seen(&id);
                    self.settled_status(&id, &live.command, &settlement.outcome)
                }
            });
        }
        let vault = self.vault()?;
        let command = vault.command(&id)?;
        Ok(match vault.find(&id)? {
            Found::Settled(outcome) => {
                self.registry.seen(&id);
                self.settled_status(&id, &command, &outcome)
            }
            Found::Live => {
                let state = if command.queued { LiveState::Queued } else { LiveState::Running };
                let since = if command.queued { 0 } else { epoch_ms().saturating_sub(command.started_at) };
                self.live_status(state, &id, &command, since, None)
            }
            Found::Abandoned => self.settled_status(&id, &command, &abandoned(&command)),
        })
    }

    fn live_status(
        &self,
        state: LiveState,
        task: &TaskId,
        command: &CommandFile,
        duration_ms: u64,
        main_exit: Option<MainExit>,
    ) -> Status {
        Status::live(state, command, duration_ms, main_exit, self.output(task, Tail::Growing))
    }

    pub(super) fn settled_status(&self, task: &TaskId, command: &CommandFile, outcome: &Outcome) -> Status {
        Status::settled(task, command, outcome, self.output(task, Tail::Final))
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

    /// Whether a stream may still grow.
    pub(super) fn tail_of(&self, task: &TaskId) -> Result<Tail, Error> {
        if let Some(live) = self.registry.get(task) {
            return Ok(match &*live.standing.borrow() {
                Standing::Settled(_) => Tail::Final,
                _ => Tail::Growing,
            });
        }
        Ok(match self.vault()?.find(task)? {
            Found::Live => Tail::Growing,
            Found::Settled(_) | Found::Abandoned => Tail::Final,
        })
    }

    pub(super) fn index_of(&self, task: &TaskId, stream: Stream, file: &File) -> TextIndex {
        match self.vault().ok().and_then(|vault| vault.index(task, stream)) {
            Some(stored) => TextIndex::load(&stored, file),
            None => TextIndex::new(),
        }
    }

    /// A text page of a command's output: `{ stream?, offset?, limit? }`.
    pub fn read_output(&self, task: &str, options: &Value) -> Result<OutputPage, Error> {
        let id = known(task)?;
        let mut fields = Fields::of(options, "options")?;
        let stream = read_stream(&mut fields)?;
        let request = page_request(&mut fields)?;
        fields.finish()?;
        let page = self.page(&id, stream, request)?;
        self.registry.seen(&id);
        Ok(OutputPage { task_id: id.to_string(), stream: stream.name(), page })
    }

    fn page(&self, task: &TaskId, stream: Stream, request: PageRequest) -> Result<TextPage, Error> {
        // Asked before the file is read: what is final then was all there.
        let tail = self.tail_of(task)?;
        let file = self.vault()?.stream(task, stream)?;
        let mut index = self.index_of(task, stream, &file);
        text::page(&file, &mut index, tail, request.offset, request.limit)
            .map_err(|source| unreadable(task, source))
    }

    /// A whole artifact as text; `None` for an unknown or malformed id.
    pub fn read_artifact(&self, id: &str) -> Result<Option<String>, Error> {
        let Some((task, stream, file)) = self.artifact(id)? else { return Ok(None) };
        let size = file.metadata().map_err(|source| unreadable(&task, source))?.len();
        // Every unit takes at most three bytes, and at least one: only in between the text has to be counted.
        if size > limits::MAX_V8_STRING_UNITS {
            let request = PageRequest { offset: limits::MAX_V8_STRING_UNITS, limit: 1 };
            if self.page(&task, stream, request)?.total_size > limits::MAX_V8_STRING_UNITS {
                return Err(VaultError::TooLarge { id: id.to_owned() }.into());
            }
        }
        let bytes = read_range(&file, 0, size).map_err(|source| unreadable(&task, source))?;
        self.registry.seen(&task);
        Ok(Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }

    /// Bytes of an artifact: `{ offset?, length? }`; `None` for an unknown or malformed id.
    pub fn read_artifact_bytes(&self, id: &str, options: &Value) -> Result<Option<Vec<u8>>, Error> {
        let mut fields = Fields::of(options, "options")?;
        let offset = fields.field("offset").unsigned_integer()?.unwrap_or(0);
        let length = fields.field("length").unsigned_integer()?;
        fields.finish()?;
        let Some((task, _, file)) = self.artifact(id)? else { return Ok(None) };
        let size = file.metadata().map_err(|source| unreadable(&task, source))?.len();
        let length = length.unwrap_or(u64::MAX).min(size.saturating_sub(offset));
        let bytes = read_range(&file, offset, length).map_err(|source| unreadable(&task, source))?;
        self.registry.seen(&task);
        Ok(Some(bytes))
    }

    pub(super) fn artifact(&self, id: &str) -> Result<Option<(TaskId, Stream, File)>, Error> {
        let Some(ArtifactId::Output(task, stream)) = ArtifactId::parse(id) else { return Ok(None) };
        match self.vault()?.stream(&task, stream) {
            Ok(file) => Ok(Some((task, stream, file))),
            Err(VaultError::UnknownTask { .. }) => Ok(None),
            Err(error) => Err(error.into()),
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

pub(super) fn read_stream(fields: &mut Fields<'_>) -> Result<Stream, InputError> {
    let words = [(Stream::Stdout.name(), Stream::Stdout), (Stream::Stderr.name(), Stream::Stderr)];
    Ok(fields.field("stream").word(&words)?.unwrap_or(Stream::Stdout))
}

pub(super) fn page_request(fields: &mut Fields<'_>) -> Result<PageRequest, InputError> {
    Ok(PageRequest::clamped(fields.field("offset").any_integer()?, fields.field("limit").any_integer()?))
}

pub(super) fn unreadable(task: &TaskId, source: io::Error) -> Error {
    VaultError::Read { name: task.to_string(), source }.into()
}

/// `length` bytes from `offset`, fewer where the file ends before.
fn read_range(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    bytes.try_reserve_exact(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    bytes.resize(length, 0);
    let mut done = 0;
    while done < length {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

/// The outcome of a command that nobody has and that left none.
fn abandoned(command: &CommandFile) -> Outcome {
    let (cause, error) = if command.queued {
        (Cause::HostGone, "the host ended while the command waited for its turn; nothing ran")
    } else {
        (
            Cause::KeeperLost,
            "keeper and warden were both killed, or the machine went down; no outcome was written",
        )
    };
    Outcome { settled_at: command.started_at, ..Outcome::bare(cause, error) }
}

/// The task that `text` names.
pub(super) fn known(text: &str) -> Result<TaskId, Error> {
    TaskId::parse(text).ok_or_else(|| VaultError::UnknownTask { id: cut(text) }.into())
}

fn cut(text: &str) -> String {
    const SHOWN: usize = 80;
    text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
