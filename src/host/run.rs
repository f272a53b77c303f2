//! Starting, following, ending.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::oneshot;

use super::course::Course;
use super::error::HostError;
use super::questions::{Answer, Question, Refusal};
use super::reads::known;
use super::start::{ActivePolicy, Next, Prepared, check_platform};
use super::status::Status;
use super::{Cancel, CommandHost};
use crate::error::Error;
use crate::input::Value;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::supervisor::gate::Entry;
use crate::vault::id::TaskId;
use crate::vault::record::Cause;

/// A command that was started. Its end is announced to the listener once this is dropped, so that nobody hears of
/// the end before the beginning.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// What every other call takes.
    pub task_id: String,
    /// The exact argv.
    pub argv: Vec<String>,
    /// When, in milliseconds since the epoch.
    pub started_at: u64,
    #[serde(skip)]
    _told: Telling,
}

/// Dropped when the one who started a command has been told.
type Telling = oneshot::Sender<()>;

/// What a start came to, for now.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// It was started.
    Started(Started),
    /// A hook has to be asked; [`CommandHost::answer`] goes on.
    Question(Box<Question>),
}

impl CommandHost {
    /// Starts a command under `policy`, the one in force when this was asked. It counts for a later
    /// [`CommandHost::kill_all`] from the moment of this call, not of the first poll.
    pub fn start(
        self: &Arc<Self>,
        policy: Option<Arc<ActivePolicy>>,
        argv: Value,
        options: Value,
        env: Value,
        cancel: Cancel,
    ) -> impl Future<Output = Result<Reply, Error>> + Send + use<> {
        let host = Arc::clone(self);
        // Only a waiting `kill_all` refuses this, and that one came first.
        let starting = Arc::clone(&self.starting).try_read_owned().ok();
        async move {
            let reply = host.start_now(policy, argv, options, env, cancel).await;
            drop(starting);
            reply
        }
    }

    async fn start_now(
        self: &Arc<Self>,
        policy: Option<Arc<ActivePolicy>>,
        argv: Value,
        options: Value,
        env: Value,
        cancel: Cancel,
    ) -> Result<Reply, Error> {
        let digest = policy.as_ref().map(|policy| policy.rules.digest().to_owned());
        let checked = self.check(policy, &argv, &options, &env, &cancel).await;
        let reply = match checked {
            Ok(prepared) => {
                let next = prepared.first();
                self.go_on(prepared, next, &cancel).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &reply {
            self.audit_refusal(error, digest.as_deref(), &argv, &options);
        }
        reply
    }

    /// Goes on with a start whose hook has answered.
    pub async fn answer(
        self: &Arc<Self>,
        ticket: u64,
        reply: &Value,
        cancel: Cancel,
    ) -> Result<Reply, Error> {
        self.check_alive()?;
        let (hook, prepared) = self.questions.take(ticket)?;
        let digest = prepared.policy.rules.digest().to_owned();
        let argv = prepared.parts.argv.clone();
        let timeout_ms = prepared.policy.rules.approval_timeout_ms();
        let result = match Answer::read(reply)? {
            Answer::Allowed => match recheck(prepared).await {
                Ok(prepared) => {
                    let next = prepared.after(hook);
                    self.go_on(prepared, next, &cancel).await
                }
                Err(error) => Err(error),
            },
            Answer::Refused(Refusal::Aborted) => Err(HostError::Aborted.into()),
            Answer::Refused(Refusal::Hook(verdict)) => Err(verdict.into_error(hook, timeout_ms).into()),
        };
        if let Err(error) = &result {
            let argv = Value::List(argv.into_iter().map(Value::Text).collect());
            self.audit_refusal(error, Some(&digest), &argv, &Value::Absent);
        }
        result
    }

    async fn check(
        &self,
        policy: Option<Arc<ActivePolicy>>,
        argv: &Value,
        options: &Value,
        env: &Value,
        cancel: &Cancel,
    ) -> Result<Prepared, Error> {
        self.check_alive()?;
        check_platform()?;
        let policy = policy.ok_or(HostError::NoPolicy)?;
        if cancel.is_set() {
            return Err(HostError::Aborted.into());
        }
        if !policy.has_pins() {
            return Prepared::check(policy, argv, options, env);
        }
        // A digest reads the whole program.
        let (argv, options, env) = (argv.clone(), options.clone(), env.clone());
        off_the_loop(move || Prepared::check(policy, &argv, &options, &env)).await
    }

    pub(super) fn check_alive(&self) -> Result<(), HostError> {
        if self.disposed.load(Ordering::Acquire) { Err(HostError::Disposed) } else { Ok(()) }
    }

    async fn go_on(
        self: &Arc<Self>,
        prepared: Prepared,
        next: Next,
        cancel: &Cancel,
    ) -> Result<Reply, Error> {
        match next {
            Next::Ask(hook) => {
                let question = self.questions.ask(hook, prepared);
                // Either this sees that the host was closed meanwhile, or the closing forgets the question.
                self.check_alive()?;
                Ok(Reply::Question(Box::new(question)))
            }
            Next::Launch => Ok(Reply::Started(self.launch(prepared, cancel).await?)),
        }
    }

    async fn launch(self: &Arc<Self>, mut prepared: Prepared, cancel: &Cancel) -> Result<Started, Error> {
        self.check_alive()?;
        if cancel.is_set() {
            return Err(HostError::Aborted.into());
        }
        let storage = self.storage()?;
        self.check_room().await?;
        self.retain();
        let task = TaskId::new().map_err(|error| HostError::Internal { reason: error.to_string() })?;
        prepared.place_tmp(&storage.vault.path().join(task.as_str()));
        let entry = self.gate.enter(prepared.policy.rules.max_concurrent());
        let started_at = epoch_ms();
        let queued = matches!(entry, Entry::Later(_));
        let command = Arc::new(prepared.command_file(&task, started_at, queued));
        let files = storage.vault.create(&task, &command)?;
        if let Err(source) = self.audit_start(&prepared, &command) {
            storage.vault.discard(&task);
            let path = storage.vault.path().display().to_string();
            return Err(crate::vault::error::VaultError::Create { path, source }.into());
        }
        let (telling, told) = oneshot::channel();
        let argv = prepared.parts.argv.clone();
        let started = Started { task_id: task.to_string(), argv, started_at, _told: telling };
        let course = Course::new(Arc::clone(self), task, command, told);
        match entry {
            Entry::Now(permit) => {
                if let Err(failed) = course.hand_over(prepared, files, permit).await {
                    storage.vault.discard(failed.course.task());
                    return Err(failed.error);
                }
            }
            Entry::Later(place) => course.enqueue(prepared, files, place),
        }
        Ok(started)
    }

    /// Waits until a command is over, for `timeout` at most, or until the one who waits gives up.
    pub async fn wait(
        &self,
        task: &str,
        timeout: Option<Duration>,
        mut cancel: Cancel,
    ) -> Result<Status, Error> {
        let id = known(task)?;
        let live = self.registry.get(&id);
        let command = match &live {
            Some(live) => Arc::clone(&live.command),
            None => self.command_of(&id)?,
        };
        let timed = async {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            outcome = self.over(&id) => {
                if let Some(outcome) = outcome? {
                    self.registry.seen(&id);
                    // One that waited for its turn began when it had it.
                    let command = if command.queued { self.command_of(&id).unwrap_or(command) } else { command };
                    let status = || self.settled_status(&id, &command, &outcome);
                    return Ok(live.map_or_else(status, |live| live.settled.get_or_init(status).clone()));
                }
            }
            () = timed => {}
            () = cancel.set() => {}
        }
        self.status(task)
    }

    /// Has a command ended and waits for its end. One that is over stays as it was.
    pub async fn kill(&self, task: &str, signal: SignalNumber) -> Result<Status, Error> {
        let id = known(task)?;
        let command = self.command_of(&id)?;
        if let Some(live) = self.registry.get(&id) {
            live.end(signal, Cause::Kill);
        } else if let Some(outcome) = self.kill_elsewhere(&id, signal).await? {
            return Ok(self.settled_status(&id, &command, &outcome));
        }
        self.wait(task, None, Cancel::never()).await
    }

    /// Has a command ended because its abort signal fired. Nothing waits.
    pub fn abort(&self, task: &str) {
        if let Some(live) = TaskId::parse(task).and_then(|id| self.registry.get(&id)) {
            live.end(SignalNumber::TERM, Cause::Abort);
        }
    }

    /// Has all of this host's commands ended, and says how many there were once they are over.
    pub async fn kill_all(&self) -> u64 {
        // Starts that are on their way become commands, or refusals, first; later ones go behind.
        drop(self.starting.write().await);
        let running = self.registry.running();
        for (_, live) in &running {
            live.end(SignalNumber::TERM, Cause::KillAll);
        }
        let count = running.len() as u64;
        for (task, mut live) in running {
            live.settled().await;
            self.registry.seen(&task);
        }
        count
    }

    /// Refuses starts from now on, those too that wait for a hook's word.
    pub fn close(&self) {
        self.disposed.store(true, Ordering::Release);
        self.ended.send_replace(true);
        self.questions.clear();
    }

    /// Ends everything, and refuses starts from now on.
    pub async fn dispose(&self) {
        self.close();
        self.kill_all().await;
        self.discard_next();
        self.followers.run_out();
    }

    /// The JavaScript environment is going away: everything ends, and nobody waits for it.
    pub fn abandon(&self) {
        self.close();
        self.followers.close_all();
        for (_, live) in self.registry.running() {
            live.end(SignalNumber::TERM, Cause::HostGone);
        }
        self.discard_next();
    }
}

/// The program may have been replaced while a hook thought; a pin reads all of it.
async fn recheck(prepared: Prepared) -> Result<Prepared, Error> {
    off_the_loop(move || prepared.recheck().map(|()| prepared)).await
}

pub(super) async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(HostError::Internal { reason: error.to_string() }.into()),
    }
}
