//! The commands of one host that are not over, and those that are and that nobody has looked at yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use super::status::Status;
use crate::os::signal::SignalNumber;
use crate::supervisor::live::{Orders, Settlement, Standing};
use crate::vault::id::TaskId;
use crate::vault::record::{Cause, CommandFile};

/// A command that is not over, or whose outcome the vault couldn't take.
#[derive(Debug, Clone)]
pub struct Live {
    /// What was started.
    pub command: Arc<CommandFile>,
    /// When, by the monotonic clock.
    pub since: Instant,
    /// How it stands.
    pub standing: watch::Receiver<Standing>,
    /// What it says once it is over, for all who wait for that: put together once, before they are told.
    pub settled: Arc<OnceLock<Status>>,
    /// How to have it ended.
    pub end: EndHandle,
}

/// With what, and on whose account.
pub type EndOrder = (SignalNumber, Cause);

/// How to have a command ended.
#[derive(Debug, Clone)]
pub enum EndHandle {
    /// It waits for its turn: tell whoever waits for it.
    Queued(Arc<watch::Sender<Option<EndOrder>>>),
    /// It runs: tell its keeper.
    Running(Orders),
}

impl Live {
    /// Has it ended.
    pub fn end(&self, signal: SignalNumber, cause: Cause) {
        match &self.end {
            // The first request counts.
            EndHandle::Queued(asked) => {
                asked.send_if_modified(|asked| {
                    let first = asked.is_none();
                    asked.get_or_insert((signal, cause));
                    first
                });
            }
            EndHandle::Running(orders) => orders.end(signal, cause),
        }
    }

    /// Waits until it is over.
    pub async fn settled(&mut self) -> Option<Settlement> {
        loop {
            if let Standing::Settled(settlement) = &*self.standing.borrow_and_update() {
                return Some(settlement.clone());
            }
            self.standing.changed().await.ok()?;
        }
    }
}

#[derive(Debug, Default)]
struct Inner {
    live: HashMap<TaskId, Live>,
    /// Settled, and neither status nor output was asked for since; with the session it belongs to.
    unseen: HashMap<TaskId, Option<Box<str>>>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Registry {
    inner: Mutex<Inner>,
}

/// `{ running, finished }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Not over.
    pub running: u64,
    /// Over, and not looked at.
    pub finished: u64,
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one, or replaces it when its turn has come.
    pub fn insert(&self, task: TaskId, live: Live) {
        self.lock().live.insert(task, live);
    }

    /// One of them.
    pub fn get(&self, task: &TaskId) -> Option<Live> {
        self.lock().live.get(task).cloned()
    }

    /// All that are not over, those that wait for their turn first: told to end in this order, none of them gets the turn
    /// that another's end sets free.
    pub fn running(&self) -> Vec<(TaskId, Live)> {
        let inner = self.lock();
        let running =
            inner.live.iter().filter(|(_, live)| !matches!(*live.standing.borrow(), Standing::Settled(_)));
        let mut all: Vec<_> = running.map(|(task, live)| (*task, live.clone())).collect();
        all.sort_by_key(|(_, live)| matches!(live.end, EndHandle::Running(_)));
        all
    }

    /// One is over. It costs nothing here from now on but its mark as unseen, unless the vault doesn't have it.
    pub fn settled(&self, task: &TaskId, session: Option<&str>, stored: bool) {
        let mut inner = self.lock();
        inner.unseen.insert(*task, session.map(Box::from));
        if stored {
            inner.live.remove(task);
        }
    }

    /// Somebody looked at it.
    pub fn seen(&self, task: &TaskId) {
        let mut inner = self.lock();
        if inner.unseen.remove(task).is_some() && inner.unseen.is_empty() {
            inner.unseen.shrink_to_fit();
            inner.live.shrink_to_fit();
        }
    }

    /// How many there are, of one session or of all.
    pub fn counts(&self, session: Option<&str>) -> Counts {
        self.counts_of(|own| session.is_none() || own == session)
    }

    /// How many there are whose session is one of these.
    pub fn counts_of(&self, of: impl Fn(Option<&str>) -> bool) -> Counts {
        let inner = self.lock();
        let running = inner
            .live
            .values()
            .filter(|live| of(live.command.session_id.as_deref()))
            .filter(|live| !matches!(*live.standing.borrow(), Standing::Settled(_)));
        let finished = inner.unseen.values().filter(|own| of(own.as_deref()));
        Counts { running: running.count() as u64, finished: finished.count() as u64 }
    }
}
