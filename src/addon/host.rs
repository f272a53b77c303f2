//! The native host: each method takes the arguments as they come, calls the core, and hands back what it says.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use napi::Result;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;
use serde::Serialize;
use serde_json::Value as Json;

use super::port::{Owed, Port, Reply, Shared};
use super::{runtime, value};
use crate::error::Error;
use crate::host::error::HostError;
use crate::host::status::Status;
use crate::host::{Cancel, CancelSender, CommandHost, Listener};
use crate::input::{Field, Value};
use crate::tools::Tools;

/// `{ ok }` or `{ error }`.
#[napi(object, object_from_js = false)]
pub struct Outcome {
    /// The value.
    pub ok: Option<Json>,
    /// A wire error.
    pub error: Option<Json>,
}

impl Outcome {
    pub(super) fn of(result: std::result::Result<impl Serialize, Error>) -> Self {
        match result {
            Ok(value) => Self { ok: serde_json::to_value(value).ok(), error: None },
            Err(error) => Self { ok: None, error: serde_json::to_value(error.to_wire()).ok() },
        }
    }
}

/// Tells the environment that a command is over.
struct Events {
    port: Arc<Shared>,
    host: f64,
}

impl Listener for Events {
    fn settled(&self, status: Status) {
        let event = serde_json::json!({ "host": self.host, "type": "settled", "status": status });
        self.port.send(0.0, Ok(Reply::Json(event)));
    }
}

/// Calls that can be given up.
type Cancels = Arc<Mutex<HashMap<u64, CancelSender>>>;

/// One command host.
#[napi]
pub struct Host {
    core: Arc<CommandHost>,
    pub(super) tools: Arc<Tools>,
    port: Arc<Shared>,
    cancels: Cancels,
}

#[napi]
impl Host {
    /// Makes a host whose options [`check_host_options`] has let through.
    #[napi(constructor, catch_unwind)]
    pub fn new(port: &Port, host_id: f64, options: Unknown<'_>, env: Unknown<'_>) -> Result<Self> {
        let port = port.shared();
        let listener = Box::new(Events { port: Arc::clone(&port), host: host_id });
        let made =
            CommandHost::new(&value::read(options)?, &value::read(env)?, runtime::supervisor(), listener);
        let core = made.map_err(|error| napi::Error::from_reason(error.to_string()))?;
        port.adopt(&core);
        let tools = Arc::new(Tools::new(Arc::clone(&core)));
        Ok(Self { core, tools, port, cancels: Cancels::default() })
    }

    /// Puts a policy in force.
    #[napi(catch_unwind)]
    pub fn set_policy(&self, policy: Unknown<'_>, env: Unknown<'_>) -> Result<Outcome> {
        let warnings = self.core.set_policy(&value::read(policy)?, &value::read(env)?);
        Ok(Outcome::of(warnings.map(|warnings| serde_json::json!({ "warnings": warnings }))))
    }

    /// The policy in force, or null.
    #[napi(catch_unwind)]
    pub fn policy(&self) -> Outcome {
        Outcome::of(Ok(self.core.policy().map(|policy| policy.rules.to_wire())))
    }

    /// How a command stands.
    #[napi(catch_unwind)]
    pub fn status(&self, task_id: Unknown<'_>) -> Result<Outcome> {
        let task = value::read(task_id)?;
        Ok(Outcome::of(text(&task, "taskId").and_then(|task| self.core.status(task))))
    }

    /// `{ running, finished }`.
    #[napi(catch_unwind)]
    pub fn counts(&self, session_id: Unknown<'_>) -> Result<Outcome> {
        let session = value::read(session_id)?;
        let session = Field::argument("sessionId", &session);
        Ok(Outcome::of(session.text().map_err(Error::from).map(|session| self.core.counts(session))))
    }

    /// Has a command ended because its abort signal fired.
    #[napi(catch_unwind)]
    pub fn abort(&self, task_id: Unknown<'_>) -> Result<()> {
        if let Value::Text(task) = value::read(task_id)? {
            self.core.abort(&task);
        }
        Ok(())
    }

    /// The one who made call `id` gives it up.
    #[napi(catch_unwind)]
    pub fn cancel(&self, id: f64) {
        if let Some(cancel) = lock(&self.cancels).get(&key(id)) {
            cancel.send_replace(true);
        }
    }

    /// Starts a command: a handle, or a question for a hook.
    #[napi(catch_unwind)]
    pub fn start(
        &self,
        id: f64,
        argv: Unknown<'_>,
        options: Unknown<'_>,
        env: Unknown<'_>,
        aborted: bool,
    ) -> Result<()> {
        let (argv, options, env) = (value::read(argv)?, value::read(options)?, value::read(env)?);
        let policy = self.core.policy();
        let options = self.tools.in_session(options);
        let cancel = self.cancellable(id);
        if aborted {
            self.cancel(id);
        }
        self.spawn(id, |core| {
            let started = core.start(policy, argv, options, env, cancel);
            async move { held(started.await?) }
        });
        Ok(())
    }

    /// Goes on with a start whose hook has answered.
    #[napi(catch_unwind)]
    pub fn answer(&self, id: f64, ticket: f64, reply: Unknown<'_>) -> Result<()> {
        let reply = value::read(reply)?;
        let cancel = self.cancellable(id);
        self.spawn(id, move |core| async move { held(core.answer(key(ticket), &reply, cancel).await?) });
        Ok(())
    }

    /// Waits for a command.
    #[napi(catch_unwind)]
    pub fn wait(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        let cancel = self.cancellable(id);
        self.spawn(id, move |core| async move {
            let timeout = crate::host::read_wait(&options)?;
            json(core.wait(text(&task, "taskId")?, timeout, cancel).await)
        });
        Ok(())
    }

    /// Has a command ended, and waits for that.
    #[napi(catch_unwind)]
    pub fn kill(&self, id: f64, task_id: Unknown<'_>, signal: Unknown<'_>) -> Result<()> {
        let (task, signal) = (value::read(task_id)?, value::read(signal)?);
        self.spawn(id, move |core| async move {
            let signal = crate::host::read_signal(&signal)?;
            json(core.kill(text(&task, "taskId")?, signal).await)
        });
        Ok(())
    }

    /// Has all commands ended, and waits for that.
    #[napi(catch_unwind)]
    pub fn kill_all(&self, id: f64) {
        self.spawn(id, |core| async move { json(Ok(core.kill_all().await)) });
    }

    /// Ends everything and refuses starts.
    #[napi(catch_unwind)]
    pub fn dispose(&self, id: f64) {
        self.tools.close();
        // At once: what is answered from here on is answered by a closed host.
        self.core.close();
        self.spawn(id, |core| async move {
            core.dispose().await;
            json(Ok(Json::Null))
        });
    }

    /// A text page of a command's output.
    #[napi(catch_unwind)]
    pub fn read_output(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.read(id, move |core| json(core.read_output(text(&task, "taskId")?, &options)));
        Ok(())
    }

    /// A whole artifact as text, or null.
    #[napi(catch_unwind)]
    pub fn read_artifact(&self, id: f64, artifact_id: Unknown<'_>) -> Result<()> {
        let artifact = value::read(artifact_id)?;
        self.read(id, move |core| {
            let Value::Text(artifact) = &artifact else { return Ok(Reply::Json(Json::Null)) };
            Ok(core.read_artifact(artifact)?.map_or(Reply::Json(Json::Null), Reply::Text))
        });
        Ok(())
    }

    /// Bytes of an artifact, or null.
    #[napi(catch_unwind)]
    pub fn read_artifact_bytes(&self, id: f64, artifact_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (artifact, options) = (value::read(artifact_id)?, value::read(options)?);
        self.read(id, move |core| {
            let Value::Text(artifact) = &artifact else { return Ok(Reply::Json(Json::Null)) };
            Ok(core.read_artifact_bytes(artifact, &options)?.map_or(Reply::Json(Json::Null), Reply::Bytes))
        });
        Ok(())
    }

    /// Keeps text or bytes.
    #[napi(catch_unwind)]
    pub fn bank_artifact(&self, id: f64, content: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (content, options) = (value::read(content)?, value::read(options)?);
        self.spawn(id, |core| async move { json(core.bank(content, &options).await) });
        Ok(())
    }

    /// Searches a command's output.
    #[napi(catch_unwind)]
    pub fn search(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.read(id, move |core| json(core.search(text(&task, "taskId")?, &options)));
        Ok(())
    }

    /// The vault's commands.
    #[napi(catch_unwind)]
    pub fn list(&self, id: f64, options: Unknown<'_>) -> Result<()> {
        let options = value::read(options)?;
        self.read(id, move |core| json(core.list(&options)));
        Ok(())
    }

    /// Removes what is over.
    #[napi(catch_unwind)]
    pub fn cleanup(&self, id: f64, options: Unknown<'_>) -> Result<()> {
        let options = value::read(options)?;
        self.read(id, move |core| json(core.cleanup(&options)));
        Ok(())
    }

    /// Begins to follow a command's output.
    #[napi(catch_unwind)]
    pub fn follow(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.spawn(id, |core| async move { json(core.follow(text(&task, "taskId")?, &options)) });
        Ok(())
    }

    /// The next bytes of a follower, or null.
    #[napi(catch_unwind)]
    pub fn follow_next(&self, id: f64, follower: f64) {
        self.spawn(id, move |core| async move {
            let next = core.follow_next(key(follower)).await?;
            Ok(next.map_or(Reply::Json(Json::Null), Reply::Bytes))
        });
    }

    /// Closes a follower.
    #[napi(catch_unwind)]
    pub fn follow_close(&self, follower: f64) {
        self.core.follow_close(key(follower));
    }
}

impl Host {
    pub(super) fn cancellable(&self, id: f64) -> Cancel {
        let (sender, cancel) = Cancel::new();
        lock(&self.cancels).insert(key(id), sender);
        cancel
    }

    /// Runs work that waits for things.
    pub(super) fn spawn<F>(&self, id: f64, work: impl FnOnce(Arc<CommandHost>) -> F)
    where
        F: Future<Output = std::result::Result<Reply, Error>> + Send + 'static,
    {
        let owed = Owed::new(Arc::clone(&self.port), id);
        let cancels = Arc::clone(&self.cancels);
        match runtime::runtime() {
            Ok(runtime) => {
                let work = work(Arc::clone(&self.core));
                runtime.spawn(async move {
                    let result = work.await;
                    lock(&cancels).remove(&key(id));
                    owed.pay(result);
                });
            }
            Err(error) => owed.pay(Err(no_threads(&error))),
        }
    }

    /// Runs work that reads files.
    fn read(
        &self,
        id: f64,
        work: impl FnOnce(&CommandHost) -> std::result::Result<Reply, Error> + Send + 'static,
    ) {
        let owed = Owed::new(Arc::clone(&self.port), id);
        let core = Arc::clone(&self.core);
        match runtime::runtime() {
            Ok(runtime) => {
                runtime.spawn_blocking(move || owed.pay(work(&core)));
            }
            Err(error) => owed.pay(Err(no_threads(&error))),
        }
    }
}

fn lock(cancels: &Cancels) -> std::sync::MutexGuard<'_, HashMap<u64, CancelSender>> {
    cancels.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ids and tickets are counted up from 1 by this package itself.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive integer within 2^53")]
pub(super) fn key(id: f64) -> u64 {
    id as u64
}

fn no_threads(error: &std::io::Error) -> Error {
    let doing = "starting threads".into();
    let source = std::io::Error::from(error.kind());
    crate::supervisor::error::SupervisorError::Resources { doing, source }.into()
}

pub(super) fn json(result: std::result::Result<impl Serialize, Error>) -> std::result::Result<Reply, Error> {
    let value = serde_json::to_value(result?);
    value.map(Reply::Json).map_err(|error| HostError::Internal { reason: error.to_string() }.into())
}

/// JSON of something that is to be dropped only when JavaScript has the JSON.
pub(super) fn held(value: impl Serialize + Send + 'static) -> std::result::Result<Reply, Error> {
    match json(Ok(&value))? {
        Reply::Json(json) => Ok(Reply::Held(json, Box::new(value))),
        other => Ok(other),
    }
}

fn text<'v>(value: &'v Value, what: &str) -> std::result::Result<&'v str, Error> {
    let field = Field::argument(what, value);
    Ok(field.text()?.ok_or_else(|| field.wrong("a string"))?)
}

/// Whether a host can be made with these options. A constructor can only throw, and what N-API throws has no room for
/// a wire error.
#[napi(catch_unwind)]
pub fn check_host_options(options: Unknown<'_>) -> Result<Outcome> {
    let checked = crate::host::HostOptions::read(&value::read(options)?);
    Ok(Outcome::of(checked.map(|_| Json::Null).map_err(Error::from)))
}

/// What this machine has, for `argvault doctor`.
#[napi(catch_unwind)]
pub fn doctor(env: Unknown<'_>) -> Result<Json> {
    let ladder = crate::host::doctor::doctor(&value::read(env)?);
    serde_json::to_value(ladder).map_err(|error| napi::Error::from_reason(error.to_string()))
}

/// `{ ok, code?, reason? }`: whether commands can be started here.
#[napi(catch_unwind)]
pub fn is_supported() -> Json {
    match crate::host::check_platform() {
        Ok(()) => serde_json::json!({ "ok": true }),
        Err(error) => {
            let wire = Error::from(error).to_wire();
            serde_json::json!({ "ok": false, "code": wire.code, "reason": wire.message })
        }
    }
}
