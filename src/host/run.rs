//! Starting, following, ending.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::{oneshot, watch};

use super::error::HostError;
use super::questions::{Answer, Question, Refusal};
use super::reads::known;
use super::registry::{EndHandle, Live};
use super::start::{ActivePolicy, Next, Prepared, Unstarted, Why, check_platform};
use super::status::Status;
use super::{Cancel, CommandHost};
use crate::error::Error;
use crate::input::Value;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::program::Located;
use crate::supervisor::error::SupervisorError;
use crate::supervisor::gate::{Entry, Permit};
use crate::supervisor::launch::Handed;
use crate::supervisor::live::{Reader, Settlement, Standing};
use crate::vault::audit::{self, bounded_argv};
use crate::vault::id::TaskId;
use crate::vault::layout;
use crate::vault::record::{Cause, CommandFile, Outcome};
use crate::vault::store::{Found, NewTask};

/// A command that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// What every other call takes.
    pub task_id: String,
    /// The exact argv.
    pub argv: Vec<String>,
    /// When, in milliseconds since the epoch.
    pub started_at: u64,
}

/// What a start came to, for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// It was started.
    Started(Started),
    /// A hook has to be asked; [`CommandHost::answer`] goes on.
    Question(Box<Question>),
}

impl CommandHost {
    /// Starts a command under `policy`, the one in force when this was asked.
    pub async fn start(
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

    fn check_alive(&self) -> Result<(), HostError> {
        if self.disposed.load(Ordering::Acquire) { Err(HostError::Disposed) } else { Ok(()) }
    }

    async fn go_on(
        self: &Arc<Self>,
        prepared: Prepared,
        next: Next,
        cancel: &Cancel,
    ) -> Result<Reply, Error> {
        match next {
            Next::Ask(hook) => Ok(Reply::Question(Box::new(self.questions.ask(hook, prepared)))),
            Next::Launch => Ok(Reply::Started(self.launch(prepared, cancel).await?)),
        }
    }

    async fn launch(self: &Arc<Self>, prepared: Prepared, cancel: &Cancel) -> Result<Started, Error> {
        self.check_alive()?;
        if cancel.is_set() {
            return Err(HostError::Aborted.into());
        }
        let storage = self.storage()?;
        let task = TaskId::new().map_err(|error| HostError::Internal { reason: error.to_string() })?;
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
        let started = Started { task_id: task.to_string(), argv: prepared.parts.argv.clone(), started_at };
        match entry {
            Entry::Now(permit) => self.hand_over(task, command, prepared, files, permit).await?,
            Entry::Later(place) => self.enqueue(task, command, prepared, files, place),
        }
        Ok(started)
    }

    /// Hands a command to the warden. On an error nothing ran, and nothing of it is left.
    async fn hand_over(
        self: &Arc<Self>,
        task: TaskId,
        command: Arc<CommandFile>,
        prepared: Prepared,
        files: NewTask,
        permit: Permit,
    ) -> Result<(), Error> {
        let (standing, watcher) = watch::channel(Standing::Running);
        let handover = match prepared.into_handover(&task, files, self.options.sync) {
            Ok(handover) => handover,
            Err(Unstarted { files, why: Why::Program(reason) }) => {
                let settlement = self.settle_unstarted(&files, Outcome::bare(Cause::StartFailed, reason));
                self.finish(&task, &command, &standing, settlement);
                return Ok(());
            }
            Err(Unstarted { why: Why::Resources(source), .. }) => {
                self.vault()?.discard(&task);
                let doing = "preparing the program's input".into();
                return Err(SupervisorError::Resources { doing, source }.into());
            }
        };
        match self.supervisor.hand_over(&handover).await {
            Ok(Handed::Running(link)) => {
                drop(handover);
                let (reader, orders) = link.split();
                let end = EndHandle::Running(orders);
                let live =
                    Live { command: Arc::clone(&command), since: Instant::now(), standing: watcher, end };
                self.registry.insert(task.clone(), live);
                // One that was disposed meanwhile has told only those it knew.
                if self.disposed.load(Ordering::Acquire)
                    && let Some(live) = self.registry.get(&task)
                {
                    live.end(SignalNumber::TERM, Cause::KillAll);
                }
                let host = Arc::clone(self);
                tokio::spawn(async move { host.follow(task, command, reader, standing, permit).await });
            }
            Ok(Handed::Settled(settlement)) => self.finish(&task, &command, &standing, settlement),
            Err(error) => {
                self.vault()?.discard(&task);
                return Err(error.into());
            }
        }
        Ok(())
    }

    async fn follow(
        self: Arc<Self>,
        task: TaskId,
        command: Arc<CommandFile>,
        reader: Reader,
        standing: watch::Sender<Standing>,
        permit: Permit,
    ) {
        let settlement = match reader.follow(&standing).await {
            Some(settlement) => settlement,
            None => self.settle_abandoned(&task),
        };
        drop(permit);
        self.finish(&task, &command, &standing, settlement);
    }

    fn finish(
        &self,
        task: &TaskId,
        command: &Arc<CommandFile>,
        standing: &watch::Sender<Standing>,
        settlement: Settlement,
    ) {
        if !settlement.stored && self.registry.get(task).is_none() {
            // The vault couldn't take the outcome: it is kept here, for as long as the host lives.
            let (asked, _) = watch::channel(None);
            let end = EndHandle::Queued(Arc::new(asked));
            let live = Live {
                command: Arc::clone(command),
                since: Instant::now(),
                standing: standing.subscribe(),
                end,
            };
            self.registry.insert(task.clone(), live);
        }
        let stored = settlement.stored;
        let status = self.settled_status(task, command, &settlement.outcome);
        standing.send_replace(Standing::Settled(settlement));
        self.registry.settled(task, command.session_id.clone(), stored);
        self.listener.settled(status);
    }

    /// Keeper and warden are gone without a word: the record, or the lack of one, tells.
    fn settle_abandoned(&self, task: &TaskId) -> Settlement {
        let lost = |stored| {
            let mut outcome = Outcome::bare(
                Cause::KeeperLost,
                "keeper and warden were both killed; what they had started may live on",
            );
            if let Ok(vault) = self.vault()
                && let Ok(folder) = vault.folder(task)
            {
                outcome.stdout_bytes = layout::size_of(&folder, layout::STDOUT);
                outcome.stderr_bytes = layout::size_of(&folder, layout::STDERR);
            }
            Settlement { outcome: Arc::new(outcome), stored }
        };
        let Ok(vault) = self.vault() else { return lost(false) };
        match vault.find(task) {
            Ok(Found::Settled(outcome)) => Settlement { outcome: Arc::from(outcome), stored: true },
            Ok(Found::Live | Found::Abandoned) => {
                let settlement = lost(false);
                let stored = vault.adopt(task, &settlement.outcome, self.options.sync).is_ok();
                Settlement { stored, ..settlement }
            }
            Err(_) => lost(false),
        }
    }

    /// Records the outcome of a command that no keeper has.
    fn settle_unstarted(&self, files: &NewTask, outcome: Outcome) -> Settlement {
        let stored =
            layout::store_outcome(&files.folder, &files.pending, &outcome, self.options.sync).is_ok();
        Settlement { outcome: Arc::new(outcome), stored }
    }

    fn enqueue(
        self: &Arc<Self>,
        task: TaskId,
        command: Arc<CommandFile>,
        prepared: Prepared,
        files: NewTask,
        place: oneshot::Receiver<Permit>,
    ) {
        let (standing, watcher) = watch::channel(Standing::Queued);
        let (asked, mut end_asked) = watch::channel(None);
        let end = EndHandle::Queued(Arc::new(asked));
        let live = Live { command: Arc::clone(&command), since: Instant::now(), standing: watcher, end };
        self.registry.insert(task.clone(), live);
        let host = Arc::clone(self);
        let patience = prepared.policy.rules.queue_timeout_ms();
        tokio::spawn(async move {
            let patience_over = async {
                match patience {
                    Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                    None => std::future::pending().await,
                }
            };
            let outcome = tokio::select! {
                permit = place => match permit {
                    Ok(permit) => {
                        host.take_turn(task, command, prepared, files, permit, &standing).await;
                        return;
                    }
                    Err(_) => Outcome::bare(Cause::HostGone, "the host ended while the command waited for its turn"),
                },
                asked = end_order(&mut end_asked) => match asked {
                    Some((signal, cause)) => {
                        let signal = signal.name();
                        Outcome::bare(cause, format!("was killed with {signal} while it waited for its turn; nothing ran"))
                    }
                    None => Outcome::bare(Cause::HostGone, "the host ended while the command waited for its turn"),
                },
                () = patience_over => {
                    let ms = patience.unwrap_or_default();
                    Outcome::bare(Cause::StartFailed, format!("could not be started: it waited {ms}ms for its turn (queueTimeoutMs)"))
                }
            };
            let settlement = host.settle_unstarted(&files, outcome);
            host.finish(&task, &command, &standing, settlement);
        });
    }

    /// A queued command's turn has come.
    async fn take_turn(
        self: &Arc<Self>,
        task: TaskId,
        command: Arc<CommandFile>,
        prepared: Prepared,
        files: NewTask,
        permit: Permit,
        queued: &watch::Sender<Standing>,
    ) {
        let command = Arc::new(CommandFile { started_at: epoch_ms(), queued: false, ..(*command).clone() });
        let _ = layout::replace_command(&files.folder, &command);
        let rescue = files.try_clone();
        let started = self.hand_over(task.clone(), Arc::clone(&command), prepared, files, permit).await;
        match (started, rescue) {
            (Ok(()), _) => {}
            (Err(error), rescue) => {
                // The handle is out already, so what would have been a refusal is an outcome.
                let outcome = Outcome::bare(Cause::StartFailed, format!("could not be started: {error}"));
                let settlement = match rescue {
                    Ok(files) => self.settle_unstarted(&files, outcome),
                    Err(_) => Settlement { outcome: Arc::new(outcome), stored: false },
                };
                self.finish(&task, &command, queued, settlement);
            }
        }
    }

    /// Waits until a command is over, for `timeout` at most, or until the one who waits gives up.
    pub async fn wait(
        &self,
        task: &str,
        timeout: Option<Duration>,
        mut cancel: Cancel,
    ) -> Result<Status, Error> {
        let id = known(task)?;
        if let Some(mut live) = self.registry.get(&id) {
            let settled = live.settled();
            let timed = async {
                match timeout {
                    Some(timeout) => tokio::time::sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                settlement = settled => {
                    if let Some(Settlement { outcome, .. }) = settlement {
                        self.registry.seen(&id);
                        let command = self.command_of(&id)?;
                        return Ok(self.settled_status(&id, &command, &outcome));
                    }
                }
                () = timed => {}
                () = cancel.set() => {}
            }
        }
        self.status(task)
    }

    /// Has a command ended and waits for its end. One that is over stays as it was.
    pub async fn kill(&self, task: &str, signal: SignalNumber) -> Result<Status, Error> {
        let id = known(task)?;
        if let Some(live) = self.registry.get(&id) {
            live.end(signal, Cause::Kill);
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

    /// Ends everything, and refuses starts from now on.
    pub async fn dispose(&self) {
        self.disposed.store(true, Ordering::Release);
        self.questions.clear();
        self.kill_all().await;
    }

    /// The JavaScript environment is going away: everything ends, and nobody waits for it.
    pub fn abandon(&self) {
        self.disposed.store(true, Ordering::Release);
        self.questions.clear();
        for (_, live) in self.registry.running() {
            live.end(SignalNumber::TERM, Cause::HostGone);
        }
    }

    fn audit_start(&self, prepared: &Prepared, command: &CommandFile) -> std::io::Result<()> {
        let identity = match &prepared.program {
            Located::Found(program) => Some(program.facts().identity),
            Located::Unstartable(_) => None,
        };
        let Ok(storage) = self.storage() else { return Ok(()) };
        storage.audit.append(&audit::Entry {
            time: command.started_at,
            event: if identity.is_some() { "started" } else { "start-failed" },
            code: None,
            task_id: Some(&command.task_id),
            policy: Some(prepared.policy.rules.digest()),
            argv: bounded_argv(command.argv.iter().map(String::as_str)),
            cwd: Some(&command.cwd),
            executable: Some(&command.executable),
            identity,
            session_id: command.session_id.as_deref(),
            host_pid: command.host_pid,
        })
    }

    /// A refusal stands whether or not its line can be written.
    fn audit_refusal(&self, error: &Error, policy: Option<&str>, argv: &Value, options: &Value) {
        let texts: &[Value] = match argv {
            Value::List(items) => items,
            _ => std::slice::from_ref(argv),
        };
        let described: Vec<String> = texts
            .iter()
            .take(crate::limits::AUDIT_ARGV_CHARS)
            .map(|item| match item {
                Value::Text(text) => text.clone(),
                other => other.describe(),
            })
            .collect();
        let option = |name: &str| match options {
            Value::Record(entries) => {
                entries.iter().find(|(key, _)| key == name).and_then(|(_, value)| match value {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                })
            }
            _ => None,
        };
        let Ok(storage) = self.storage() else { return };
        let _ = storage.audit.append(&audit::Entry {
            time: epoch_ms(),
            event: "refused",
            code: Some(error.code().name()),
            task_id: None,
            policy,
            argv: bounded_argv(described.iter().map(String::as_str)),
            cwd: option("cwd"),
            executable: None,
            identity: None,
            session_id: option("sessionId"),
            host_pid: std::process::id(),
        });
    }
}

/// The order to end a queued command; `None` when nobody can give one any more.
async fn end_order(
    asked: &mut watch::Receiver<Option<(SignalNumber, Cause)>>,
) -> Option<(SignalNumber, Cause)> {
    *asked.wait_for(Option::is_some).await.ok()?
}

/// The program may have been replaced while a hook thought; a pin reads all of it.
async fn recheck(prepared: Prepared) -> Result<Prepared, Error> {
    off_the_loop(move || prepared.recheck().map(|()| prepared)).await
}

async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(HostError::Internal { reason: error.to_string() }.into()),
    }
}
