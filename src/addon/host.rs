//! The native host: each method takes the arguments as they come, calls the core, and hands back what it says.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use napi::Result;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;
use serde::Serialize;

use super::port::{Owed, Port, Reply, Shared};
use super::{runtime, value};
use crate::error::Error;
use crate::host::error::HostError;
use crate::host::status::Status;
use crate::host::{Cancel, CancelSender, CommandHost, Ended, Listener};
use crate::input::{Field, Value};
use crate::tools::Tools;
use crate::vault::id::TaskId;

/// A value or a wire error, as text that JavaScript reads in one go.
#[napi(object, object_from_js = false)]
pub struct Outcome {
    /// Whether it is a value.
    pub ok: bool,
    /// Its JSON.
    pub json: String,
}

impl Outcome {
    pub(super) fn of(result: std::result::Result<impl Serialize, Error>) -> Self {
        match result.and_then(|value| text_of(&value)) {
            Ok(json) => Self { ok: true, json },
            Err(error) => {
                Self { ok: false, json: serde_json::to_string(&error.to_wire()).unwrap_or_default() }
            }
        }
    }
}

/// Commands whose end JavaScript was told, until it has said whether anybody listens.
type Untold = Arc<Mutex<HashMap<TaskId, Ended>>>;

/// What the environment is told without having asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'t> {
    host: f64,
    #[serde(rename = "type")]
    kind: &'static str,
    task_id: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

/// Tells the environment that a command is over.
struct Events {
    port: Arc<Shared>,
    host: f64,
    untold: Untold,
}

impl Listener for Events {
    fn settled(&self, mut ended: Ended) {
        let status = ended.status.take();
        let event = Event { host: self.host, kind: "settled", task_id: ended.task.as_str(), status };
        let Ok(text) = text_of(&event) else { return };
        if event.status.is_none() {
            self.untold.lock().unwrap_or_else(PoisonError::into_inner).insert(ended.task, ended);
        }
        self.port.send(0.0, Ok(Reply::Json(text)));
    }
}

/// Calls that can be given up.
type Cancels = Arc<Mutex<HashMap<u64, CancelSender>>>;

/// One command host.
#[napi]
pub struct Host {
    pub(super) core: Arc<CommandHost>,
    pub(super) tools: Arc<Tools>,
    port: Arc<Shared>,
    cancels: Cancels,
    untold: Untold,
}

#[napi]
impl Host {
    /// Makes a host whose options [`check_host_options`] has let through.
    #[napi(constructor, catch_unwind)]
    pub fn new(port: &Port, host_id: f64, options: Unknown<'_>, env: Unknown<'_>) -> Result<Self> {
        let port = port.shared();
        let untold = Untold::default();
        let listener =
            Box::new(Events { port: Arc::clone(&port), host: host_id, untold: Arc::clone(&untold) });
        let made = CommandHost::new(
            &value::read(options)?,
            &value::read_variables(env)?,
            runtime::supervisor(),
            listener,
        );
        let core = made.map_err(|error| napi::Error::from_reason(error.to_string()))?;
        port.adopt(&core);
        let tools = Arc::new(Tools::new(Arc::clone(&core)));
        Ok(Self { core, tools, port, cancels: Cancels::default(), untold })
    }

    /// Puts a policy in force.
    #[napi(catch_unwind)]
    pub fn set_policy(&self, policy: Unknown<'_>, env: Unknown<'_>) -> Result<Outcome> {
        let warnings = self.core.set_policy(&value::read(policy)?, &value::read_variables(env)?);
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

    /// The status of a command whose end was told without it, if anybody listens; null otherwise, and the second time.
    /// Unlike [`Host::status`] this is no look at it.
    #[napi(catch_unwind)]
    pub fn settled(&self, task_id: Unknown<'_>, wanted: bool) -> Result<Outcome> {
        let task = value::read(task_id)?;
        let ended = text(&task, "taskId").map(|task| {
            let task = TaskId::parse(task)?;
            self.untold.lock().unwrap_or_else(PoisonError::into_inner).remove(&task)
        });
        Ok(Outcome::of(
            ended.map(|ended| ended.filter(|_| wanted).map(|ended| self.core.status_at_end(&ended))),
        ))
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
        let (argv, options, env) = (value::read(argv)?, value::read(options)?, value::read_variables(env)?);
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
            Ok(Reply::null())
        });
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
    pub(super) fn read(
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
    text_of(&result?).map(Reply::Json)
}

/// JSON of something that is to be dropped only when JavaScript has the JSON.
pub(super) fn held(value: impl Serialize + Send + 'static) -> std::result::Result<Reply, Error> {
    Ok(Reply::Held(text_of(&value)?, Box::new(value)))
}

fn text_of(value: &impl Serialize) -> std::result::Result<String, Error> {
    let text = serde_json::to_string(value);
    text.map_err(|error| HostError::Internal { reason: error.to_string() }.into())
}

pub(super) fn text<'v>(value: &'v Value, what: &str) -> std::result::Result<&'v str, Error> {
    let field = Field::argument(what, value);
    Ok(field.text()?.ok_or_else(|| field.wrong("a string"))?)
}

/// Whether a host can be made with these options. A constructor can only throw, and what N-API throws has no room for
/// a wire error.
#[napi(catch_unwind)]
pub fn check_host_options(options: Unknown<'_>) -> Result<Outcome> {
    let checked = crate::host::HostOptions::read(&value::read(options)?);
    Ok(Outcome::of(checked.map(|_| ()).map_err(Error::from)))
}

/// What this machine has, for `argvault doctor`.
#[napi(catch_unwind)]
pub fn doctor(env: Unknown<'_>) -> Result<Outcome> {
    Ok(Outcome::of(Ok(crate::host::doctor::doctor(&value::read_variables(env)?))))
}

/// `{ ok, code?, reason? }`: whether commands can be started here.
#[napi(catch_unwind)]
pub fn is_supported() -> Outcome {
    Outcome::of(Ok(match crate::host::check_platform() {
        Ok(()) => serde_json::json!({ "ok": true }),
        Err(error) => {
            let wire = Error::from(error).to_wire();
            serde_json::json!({ "ok": false, "code": wire.code, "reason": wire.message })
        }
    }))
}
