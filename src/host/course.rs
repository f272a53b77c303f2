//! The course of one command, from its folder to its outcome, whoever carries it on.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::CommandHost;
use super::ended::Ended;
use super::registry::{EndHandle, EndOrder, Live};
use super::start::{Prepared, Unstarted, Why};
use super::status::Status;
use crate::error::Error;
use crate::limits;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::supervisor::error::SupervisorError;
use crate::supervisor::gate::Permit;
use crate::supervisor::launch::{Handed, Handover};
use crate::supervisor::live::{Orders, Reader, Settlement, Standing};
use crate::vault::id::TaskId;
use crate::vault::layout;
use crate::vault::record::{Cause, CommandFile, Outcome};
use crate::vault::store::{Found, NewTask, Vault};

/// A command that has a folder and is not over.
pub struct Course {
    host: Arc<CommandHost>,
    task: TaskId,
    command: Arc<CommandFile>,
    standing: watch::Sender<Standing>,
    /// Its status, once it is over and somebody has asked.
    settled: Arc<OnceLock<Status>>,
    /// Resolves when the one who started it has been told: nobody hears of the end before. `None`: a quiet one.
    told: Option<oneshot::Receiver<()>>,
    /// What it is to be ended with, asked while it had no keeper yet.
    asked: Arc<watch::Sender<Option<EndOrder>>>,
}

/// A course that found no keeper. Nothing ran.
pub struct Failed {
    /// It, with its folder as it was.
    pub course: Course,
    files: NewTask,
    /// Why.
    pub error: Error,
}

impl Course {
    /// Of a task whose folder was just made.
    pub fn new(
        host: Arc<CommandHost>,
        task: TaskId,
        command: Arc<CommandFile>,
        told: oneshot::Receiver<()>,
    ) -> Self {
        Self { told: Some(told), ..Self::quiet(host, task, command) }
    }

    /// Of one that is announced to nobody, counted for nobody and ended by nobody but the one who has it run.
    pub fn quiet(host: Arc<CommandHost>, task: TaskId, command: Arc<CommandFile>) -> Self {
        let standing = watch::Sender::new(Standing::Queued);
        let asked = Arc::new(watch::Sender::new(None));
        Self { host, task, command, standing, settled: Arc::default(), told: None, asked }
    }

    /// Whose course it is.
    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// How it stands and how to have it ended, for whoever keeps that.
    pub fn live(&self) -> Live {
        self.live_by(EndHandle::Queued(Arc::clone(&self.asked)))
    }

    fn live_by(&self, end: EndHandle) -> Live {
        let standing = self.standing.subscribe();
        let (command, settled) = (Arc::clone(&self.command), Arc::clone(&self.settled));
        Live { command, since: Instant::now(), standing, settled, end }
    }

    fn register(&self, live: Live) {
        if self.told.is_some() {
            self.host.registry.insert(self.task, live);
        }
    }

    /// Hands it to the warden, and has it followed from there.
    pub async fn hand_over(
        self,
        prepared: Prepared,
        files: NewTask,
        permit: Permit,
    ) -> Result<(), Box<Failed>> {
        let handover = match prepared.into_handover(&self.task, files, self.host.options.sync) {
            Ok(handover) => handover,
            Err(Unstarted { files, why: Why::Program(reason) }) => {
                self.settle_unstarted(&files, Outcome::bare(Cause::StartFailed, reason));
                return Ok(());
            }
            Err(Unstarted { files, why: Why::Resources(source) }) => {
                let doing = "preparing the program's input".into();
                let error = SupervisorError::Resources { doing, source }.into();
                return Err(Box::new(Failed { course: self, files, error }));
            }
        };
        self.launch(handover, Some(permit)).await
    }

    /// The same for what is ready to be handed over. `permit` is its place, if it has taken one.
    pub async fn launch(self, handover: Handover, permit: Option<Permit>) -> Result<(), Box<Failed>> {
        match self.host.supervisor.hand_over(&handover).await {
            Ok(Handed::Running(link)) => {
                drop(handover);
                let (reader, orders) = link.split();
                self.standing.send_replace(Standing::Running);
                // Whoever asks for its end from now on finds the keeper; whoever found the queue is heard by `follow`.
                self.register(self.live_by(EndHandle::Running(orders.clone())));
                let disposed = self.host.disposed.load(Ordering::Acquire);
                if disposed && self.asked.borrow().is_none() {
                    orders.end(SignalNumber::TERM, Cause::KillAll);
                }
                tokio::spawn(self.follow(reader, orders, permit));
            }
            Ok(Handed::Settled(settlement)) => self.finish(settlement),
            Err(error) => {
                return Err(Box::new(Failed { course: self, files: handover.task, error: error.into() }));
            }
        }
        Ok(())
    }

    async fn follow(self, reader: Reader, orders: Orders, permit: Option<Permit>) {
        let charge = self.host.supervisor.charge();
        if self.told.is_some() {
            // While the program runs: once its end is told, this host writes nothing that was not asked for, and whoever
            // removes the vault then meets nobody there.
            self.host.prepare_next();
        }
        let followed = {
            let mut followed = std::pin::pin!(reader.follow(&self.standing));
            let mut asked = self.asked.subscribe();
            let mut passed_on = false;
            loop {
                tokio::select! {
                    followed = &mut followed => break followed,
                    (signal, cause) = end_order(&mut asked), if !passed_on => {
                        orders.end(signal, cause);
                        passed_on = true;
                    }
                }
            }
        };
        let settlement = match followed {
            Some(settlement) => settlement,
            None => self.settle_abandoned().await,
        };
        drop((permit, charge));
        self.finish(settlement);
    }

    /// It is over: those who wait are told, then the listener.
    fn finish(mut self, settlement: Settlement) {
        if !settlement.stored && self.host.registry.get(&self.task).is_none() {
            // The vault couldn't take the outcome: it is kept here, for as long as the host lives.
            self.register(self.live());
        }
        let ended = self.told.take().map(|told| {
            let Self { host, task, command, settled, .. } = &self;
            let Settlement { outcome, stored } = &settlement;
            let status = || settled.get_or_init(|| host.settled_status(task, command, outcome)).clone();
            let status = host.options.has_on_settled.then(status);
            // Before those who wait are told: what they do next finds it over, and looking at it clears the mark.
            host.registry.settled(task, command.session_id.as_deref(), *stored);
            host.note_settled(outcome.stdout_bytes + outcome.stderr_bytes);
            let (task, command) = (*task, Arc::clone(command));
            (told, Ended { task, status, command, outcome: Arc::clone(outcome) })
        });
        self.standing.send_replace(Standing::Settled(settlement));
        let Some((told, ended)) = ended else { return };
        let host = self.host;
        tokio::spawn(async move {
            let _ = told.await; // an error says the same: the other end was dropped
            host.listener.settled(ended);
        });
    }

    /// Keeper and warden are gone without a word: the record, or the lack of one, tells.
    async fn settle_abandoned(&self) -> Settlement {
        let unstored = |outcome: Outcome| Settlement { outcome: Arc::new(outcome), stored: false };
        let mut lost = Outcome::bare(
            Cause::KeeperLost,
            "keeper and warden were both killed; what they had started may live on",
        );
        let Ok(vault) = self.host.vault() else { return unstored(lost) };
        if let Ok(Found::Settled(outcome)) = vault.find(&self.task) {
            return Settlement { outcome: Arc::from(outcome), stored: true };
        }
        lost.duration_ms = lost.settled_at.saturating_sub(self.command.started_at);
        if let Ok(folder) = vault.folder(&self.task) {
            lost.stdout_bytes = layout::size_of(&folder, layout::STDOUT);
            lost.stderr_bytes = layout::size_of(&folder, layout::STDERR);
        }
        let stored = self.adopt(vault, &lost).await.is_ok();
        if let Ok(folder) = vault.folder(&self.task) {
            let sweep = move || {
                Ok(!layout::owes_removal(&folder) || layout::remove_tmp(&folder, limits::TMP_SWEEP_MS))
            };
            let _ = super::run::off_the_loop(sweep).await;
        }
        Settlement { stored, ..unstored(lost) }
    }

    /// Writes the record in everybody's place. The lock that says "live" may be closed a little later than the socket.
    async fn adopt(&self, vault: &Vault, outcome: &Outcome) -> io::Result<()> {
        const PAUSE: Duration = Duration::from_millis(10);
        let deadline = Instant::now() + Duration::from_millis(limits::LOCK_RELEASE_MS);
        loop {
            match vault.adopt(&self.task, outcome, self.host.options.sync) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {
                    tokio::time::sleep(PAUSE).await;
                }
                done => return done,
            }
        }
    }

    /// Records the outcome of a command that never had a keeper.
    fn settle_unstarted(self, files: &NewTask, outcome: Outcome) {
        let sync = self.host.options.sync;
        let stored = layout::store_outcome(&files.folder, &files.pending, &outcome, sync).is_ok();
        self.finish(Settlement { outcome: Arc::new(outcome), stored });
    }

    /// Has it wait for its turn.
    pub fn enqueue(self, prepared: Prepared, files: NewTask, place: oneshot::Receiver<Permit>) {
        self.register(self.live());
        tokio::spawn(self.wait_for_turn(prepared, files, place));
    }

    async fn wait_for_turn(self, prepared: Prepared, files: NewTask, place: oneshot::Receiver<Permit>) {
        let patience = prepared.policy.rules.queue_timeout_ms();
        let patience_over = async {
            match patience {
                Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                None => std::future::pending().await,
            }
        };
        let mut orders = self.asked.subscribe();
        // In this order: who was told to end doesn't run, be it that its turn has come meanwhile.
        let outcome = tokio::select! {
            biased;
            (signal, cause) = end_order(&mut orders) => {
                let signal = signal.name();
                Outcome::bare(cause, format!("was killed with {signal} while it waited for its turn; nothing ran"))
            }
            permit = place => match permit {
                Ok(permit) => return self.take_turn(prepared, files, permit).await,
                Err(_) => Outcome::bare(Cause::HostGone, "the host ended while it waited for its turn; nothing ran"),
            },
            () = patience_over => {
                let ms = patience.unwrap_or_default();
                let waited = format!("could not be started: it waited {ms}ms for its turn (queueTimeoutMs)");
                Outcome::bare(Cause::StartFailed, waited)
            }
        };
        self.settle_unstarted(&files, outcome);
    }

    async fn take_turn(mut self, prepared: Prepared, files: NewTask, permit: Permit) {
        self.command =
            Arc::new(CommandFile { started_at: epoch_ms(), queued: false, ..(*self.command).clone() });
        let _ = layout::replace_command(&files.folder, &self.command);
        if let Err(failed) = self.hand_over(prepared, files, permit).await {
            let Failed { course, files, error } = *failed;
            // The handle is out already, so what would have been a refusal is an outcome.
            let outcome = Outcome::bare(Cause::StartFailed, format!("could not be started: {error}"));
            course.settle_unstarted(&files, outcome);
        }
    }
}

/// The order to end a queued command.
async fn end_order(asked: &mut watch::Receiver<Option<EndOrder>>) -> EndOrder {
    match asked.wait_for(Option::is_some).await.map(|asked| *asked) {
        Ok(Some(order)) => order,
        // Nobody can give one any more.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Value;
    use crate::supervisor::launch::Supervisor;

    struct Nobody;

    impl super::super::Listener for Nobody {
        fn settled(&self, _: super::super::ended::Ended) {}
    }

    fn command(task: &TaskId) -> CommandFile {
        CommandFile {
            task_id: task.to_string(),
            label: "x".into(),
            argv: vec!["x".into()],
            cwd: "/".into(),
            executable: "/x".into(),
            session_id: None,
            started_at: 1,
            timeout_ms: 1,
            max_output_bytes: 1,
            queued: false,
            host_pid: 1,
            confinement: None,
            tmp_dir: None,
            keep_tmp: false,
        }
    }

    /// On one thread the order is fixed: the first try to take the lock is over, in vain, when the lock is let go.
    #[tokio::test(flavor = "current_thread")]
    async fn a_lost_record_whose_lock_is_let_go_late_is_written_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let vault_dir = Value::Text(dir.path().join("vault").to_str().unwrap().into());
        let options = Value::Record(vec![("vaultDir".into(), vault_dir)]);
        let supervisor = Arc::new(Supervisor::new("/nowhere".into()));
        let host = CommandHost::new(&options, &Value::Absent, supervisor, Box::new(Nobody)).unwrap();
        let task = TaskId::new().unwrap();
        let command = Arc::new(command(&task));
        let files = host.vault().unwrap().create(&task, &command).unwrap();
        let course = Course::quiet(Arc::clone(&host), task, command);
        let (settlement, ()) = tokio::join!(course.settle_abandoned(), async {
            assert!(matches!(host.vault().unwrap().find(&task), Ok(Found::Live)));
            drop(files);
        });
        assert_eq!((settlement.outcome.cause, settlement.stored), (Cause::KeeperLost, true));
        let found = host.vault().unwrap().find(&task).unwrap();
        assert!(matches!(found, Found::Settled(outcome) if *outcome == *settlement.outcome));
    }
}
