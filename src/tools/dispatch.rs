//! Executing a tool by its name.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;

use super::catalog::{CommandTool, FamilyCall, ToolDefinition, ToolFamily, ToolSet};
use super::decisions::Decisions;
use super::error::ToolError;
use super::number::Clamped;
use super::outcome::Answer;
use super::params::{CommandKill, CommandOutput, CommandSearch, CommandStatus, RetrieveContext, StreamName};
use super::reader::read;
use super::session::{read_context, with_session};
use crate::error::{Code, Error};
use crate::host::error::HostError;
use crate::host::{ActivePolicy, Cancel, CommandHost};
use crate::input::{InputError, Value, nearest, quoted};
use crate::limits;
use crate::os::signal::SignalNumber;
use crate::vault::id::Stream;

/// The tools of one host, with what they keep from call to call.
pub struct Tools {
    pub(super) host: Arc<CommandHost>,
    set: Mutex<ToolSet>,
    session: Mutex<Option<String>>,
    pub(super) decisions: Decisions,
    /// The longest wait of a call.
    pub(super) patience: Duration,
}

/// One call, with what was in force when it was made.
pub struct Call {
    name: Value,
    pub(super) params: Value,
    session: Result<Option<String>, InputError>,
    pub(super) policy: Option<Arc<ActivePolicy>>,
    pub(super) env: Value,
    pub(super) cancel: Cancel,
}

/// Which tool a name means.
enum Known {
    Own(CommandTool),
    Family(Arc<dyn ToolFamily>, &'static str),
}

impl Tools {
    /// No tools yet.
    pub fn new(host: Arc<CommandHost>) -> Self {
        Self::patient_for(host, Duration::from_millis(limits::MAX_MODEL_WAIT_MS))
    }

    pub(super) fn patient_for(host: Arc<CommandHost>, patience: Duration) -> Self {
        Self {
            host,
            set: Mutex::default(),
            session: Mutex::default(),
            decisions: Decisions::default(),
            patience,
        }
    }

    fn set(&self) -> MutexGuard<'_, ToolSet> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the tools that run commands.
    pub fn register_commands(&self) {
        self.set().command = true;
    }

    /// Registers the tools that ask git, in the place of those before.
    pub fn register_git(&self, family: Arc<dyn ToolFamily>) {
        self.set().git = Some(family);
    }

    /// All that are registered.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.set().definitions()
    }

    /// Sets the session of calls, and of starts, that name none: `{ sessionId? }`.
    pub fn set_context(&self, context: &Value) -> Result<(), Error> {
        let session = read_context(context, "context")?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
        Ok(())
    }

    /// The session of calls that name none.
    pub fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A start's options with the context's session where they name none.
    pub fn in_session(&self, options: Value) -> Value {
        with_session(options, self.session())
    }

    /// Takes a call down as it is made; [`Tools::execute`] executes it.
    pub fn call(&self, name: Value, params: Value, context: &Value, env: Value, cancel: Cancel) -> Call {
        let session = read_context(context, "context").map(|session| session.or_else(|| self.session()));
        Call { name, params, session, policy: self.host.policy(), env, cancel }
    }

    /// Executes a call. Whatever goes wrong is a value.
    pub async fn execute(&self, mut call: Call) -> Answer {
        let session = std::mem::replace(&mut call.session, Ok(None)).map_err(Error::from);
        match self.known(&call.name).and_then(|tool| Ok((tool, session?))) {
            Ok((Known::Own(CommandTool::Run), session)) => match self.run(call, session).await {
                Ok(answer) => answer,
                Err(error) => Answer::refused_start(&error),
            },
            Ok((Known::Own(tool), session)) => answer(self.own(tool, call, session).await),
            Ok((Known::Family(family, name), session)) => {
                let (params, cancel) = (call.params, call.cancel);
                answer(family.execute(FamilyCall { name, params, session, cancel }).await)
            }
            Err(error) => Answer::refusal(&error.to_wire()),
        }
    }

    fn known(&self, name: &Value) -> Result<Known, Error> {
        let set = self.set().clone();
        let Value::Text(text) = name else {
            return Err(unknown(name.describe(), None, &set).into());
        };
        if let Some(tool) = CommandTool::find(text).filter(|tool| set.has(*tool)) {
            return Ok(Known::Own(tool));
        }
        let of_git = set.git.as_ref().and_then(|git| {
            let definition = git.definitions().iter().find(|tool| tool.name == text)?;
            Some((Arc::clone(git), definition.name))
        });
        match of_git {
            Some((git, name)) => Ok(Known::Family(git, name)),
            None => Err(unknown(quoted(text), Some(text), &set).into()),
        }
    }

    async fn own(&self, tool: CommandTool, call: Call, session: Option<String>) -> Result<Json, Error> {
        let Call { params, mut cancel, .. } = call;
        let session = session.as_deref();
        let result = match tool {
            CommandTool::Run => return Err(internal("a start has a way of its own")),
            CommandTool::Status => self.status(&params, session, cancel).await?,
            CommandTool::Kill => self.kill(&params, session, cancel).await?,
            CommandTool::Output => {
                let CommandOutput { task_id, stream, offset, limit } = read(&params)?;
                self.host.check_visible(&task_id, session)?;
                let options =
                    [("stream", word(stream)), ("offset", number(offset)), ("limit", number(limit))];
                let options = record(options);
                self.reading(&mut cancel, move |host| host.read_output(&task_id, &options)).await?
            }
            CommandTool::Search => {
                let params: CommandSearch = read(&params)?;
                self.host.check_visible(&params.task_id, session)?;
                let options = record([
                    ("pattern", Value::Text(params.pattern)),
                    ("literal", Value::Bool(params.literal)),
                    ("ignoreCase", Value::Bool(params.ignore_case)),
                    ("stream", word(params.stream)),
                    ("before", number(params.before)),
                    ("after", number(params.after)),
                    ("maxMatches", number(params.max_matches)),
                ]);
                let task_id = params.task_id;
                self.reading(&mut cancel, move |host| host.search(&task_id, &options)).await?
            }
            CommandTool::Retrieve => return self.retrieve(&params, session, &mut cancel).await,
        };
        Ok(self.counted(result, session))
    }

    async fn status(&self, params: &Value, session: Option<&str>, cancel: Cancel) -> Result<Json, Error> {
        let CommandStatus { task_id, wait_ms } = read(params)?;
        self.host.check_visible(&task_id, session)?;
        let wait = Duration::from_millis(wait_ms.get()).min(self.patience);
        encode(&self.host.wait(&task_id, Some(wait), cancel).await?)
    }

    /// An abort, or the end of patience, ends the wait: the command ends all the same.
    async fn kill(&self, params: &Value, session: Option<&str>, mut cancel: Cancel) -> Result<Json, Error> {
        let CommandKill { task_id } = read(params)?;
        self.host.check_visible(&task_id, session)?;
        if cancel.is_set() {
            return Err(ToolError::Aborted.into());
        }
        let status = tokio::select! {
            biased;
            killed = self.host.kill(&task_id, SignalNumber::TERM) => killed?,
            () = cancel.set() => self.host.status(&task_id)?,
            () = tokio::time::sleep(self.patience) => self.host.status(&task_id)?,
        };
        encode(&status)
    }

    async fn retrieve(
        &self,
        params: &Value,
        session: Option<&str>,
        cancel: &mut Cancel,
    ) -> Result<Json, Error> {
        let RetrieveContext { artifact_id, offset, limit } = read(params)?;
        let unknown = || Error::from(ToolError::UnknownArtifact { id: artifact_id.clone() });
        self.host.check_artifact_visible(&artifact_id, session).map_err(|error| match error.code() {
            Code::UnknownTask => unknown(),
            _ => error,
        })?;
        let (id, options) =
            (artifact_id.clone(), record([("offset", number(offset)), ("limit", number(limit))]));
        match self.reading(cancel, move |host| host.artifact_page(&id, &options)).await? {
            Json::Null => Err(unknown()),
            page => Ok(page),
        }
    }

    /// Reads files, which blocks; an abort doesn't wait for that.
    async fn reading<T: Serialize + Send + 'static>(
        &self,
        cancel: &mut Cancel,
        work: impl FnOnce(&CommandHost) -> Result<T, Error> + Send + 'static,
    ) -> Result<Json, Error> {
        let host = Arc::clone(&self.host);
        tokio::select! {
            biased;
            () = cancel.set() => Err(ToolError::Aborted.into()),
            read = tokio::task::spawn_blocking(move || encode(&work(&host)?)) => {
                read.map_err(|error| internal(&error.to_string()))?
            }
        }
    }

    /// A command tool's result with its session's counters.
    pub(super) fn counted(&self, mut result: Json, session: Option<&str>) -> Json {
        let counts = self.host.session_counts(session);
        if let Json::Object(result) = &mut result {
            result.insert("running".into(), counts.running.into());
            result.insert("finished".into(), counts.finished.into());
        }
        result
    }
}

fn answer(result: Result<Json, Error>) -> Answer {
    match result {
        Ok(result) => Answer::result(result),
        Err(error) => Answer::refusal(&error.to_wire()),
    }
}

fn unknown(given: String, name: Option<&str>, set: &ToolSet) -> ToolError {
    const COMMANDS: &str = "registerBackgroundCommandTools(policy)";
    const GIT: &str = "registerGitTools({ repoRoot })";
    let names: Vec<&str> = set.definitions().iter().map(|tool| tool.name).collect();
    let recovery = match name {
        Some(name) if CommandTool::find(name).is_some() => format!("Register it with {COMMANDS} first."),
        Some(name) if name.starts_with("git_") && set.git.is_none() => {
            format!("Register the git tools with {GIT} first.")
        }
        _ if names.is_empty() => format!("Register tools with {COMMANDS} or {GIT} first."),
        _ => format!("Use one of {}.", names.join(", ")),
    };
    let nearest = name.and_then(|name| nearest(name, names.iter().copied())).map(str::to_owned);
    ToolError::UnknownTool { given, nearest, recovery }
}

/// Options as a host's call takes them.
fn record<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Record(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn number<const MIN: u64, const MAX: u64>(number: Clamped<MIN, MAX>) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "read from a JavaScript number, so within 2^53")]
    Value::Number(number.get() as f64)
}

fn word(stream: StreamName) -> Value {
    Value::Text(Stream::from(stream).name().into())
}

pub(super) fn encode(value: &impl Serialize) -> Result<Json, Error> {
    serde_json::to_value(value).map_err(|error| internal(&error.to_string()))
}

pub(super) fn internal(reason: &str) -> Error {
    HostError::Internal { reason: reason.to_owned() }.into()
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
