//! Starts that wait for a hook's word longer than a model's call can.
//!
//! A decision outlives the call that asked for it. A call that asks for the same argv in the same place and session
//! joins it; the hook is asked once, and the command starts once. What was decided while no call waited is kept for
//! the next one that asks, and handed out once.
//!
//! `allowlist` alone is not joined while its first call waits: two equal calls at once mean two commands, as they
//! would without the hook. `approve` is, so that nobody is asked twice.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::watch;

use crate::error::WireError;
use crate::host::questions::{Hook, Question};
use crate::host::{Cancel, CancelSender};
use crate::limits;

/// What makes two starts the same question. Their confinement isn't in it: a model can't set one, and what holds is
/// what was resolved, and shown, when the hook was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// The policy that asks, by its digest.
    pub policy: String,
    pub session: Option<String>,
    /// As resolved.
    pub cwd: String,
    pub argv: Vec<String>,
}

/// A command that a decision started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Handle {
    pub task_id: String,
    pub argv: Vec<String>,
    pub started_at: u64,
    /// The time budget that holds.
    pub timeout_ms: u64,
}

pub(super) type Outcome = Result<Handle, Box<WireError>>;

/// How a start enters.
#[derive(Debug)]
pub(super) enum Entry {
    /// Nobody asked for it yet: this call waits for it too.
    New(u64),
    /// Others did: this call waits with them, and its own question is not needed.
    Joined(u64),
    /// It was decided while nobody waited.
    Decided(Outcome),
}

/// How a wait ended.
#[derive(Debug)]
pub(super) enum Waited {
    Decided(Outcome),
    /// It took too long; the decision goes on.
    Pending,
    /// The one who waited gave up; the decision goes on, for others.
    Left,
    /// The one who waited gave up, and nobody else wants the command. Its open question.
    Withdrawn(u64),
}

#[derive(Debug)]
struct Decision {
    key: Key,
    /// The question that is open.
    ticket: u64,
    timeout_ms: u64,
    /// Whether `approve` was asked.
    approval: bool,
    /// A call was told to ask again.
    promised: bool,
    waiting: usize,
    outcome: watch::Sender<Option<Outcome>>,
    decided: Option<Instant>,
    cancel: (CancelSender, Cancel),
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    open: HashMap<u64, Decision>,
}

#[derive(Debug, Default)]
pub(super) struct Decisions(Mutex<Inner>);

impl Decisions {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up a start for which `question` would have to be asked.
    pub fn enter(&self, key: Key, question: &Question) -> Entry {
        let kept = Duration::from_millis(limits::DECISION_KEPT_MS);
        let mut inner = self.lock();
        inner.open.retain(|_, decision| decision.decided.is_none_or(|at| at.elapsed() < kept));
        let same = inner.open.iter_mut().find(|(_, decision)| {
            // One that is decided is for those who waited for it, if any did.
            let open = decision.decided.is_none() && (decision.approval || decision.promised);
            decision.key == key && (open || (decision.decided.is_some() && decision.waiting == 0))
        });
        if let Some((&id, decision)) = same {
            let outcome = decision.outcome.borrow().clone();
            if let Some(outcome) = outcome {
                inner.open.remove(&id);
                return Entry::Decided(outcome);
            }
            decision.waiting += 1;
            return Entry::Joined(id);
        }
        inner.last += 1;
        let id = inner.last;
        let decision = Decision {
            key,
            ticket: question.ticket,
            timeout_ms: question.request.timeout_ms,
            approval: question.question == Hook::Approve,
            promised: false,
            waiting: 1,
            outcome: watch::Sender::new(None),
            decided: None,
            cancel: Cancel::new(),
        };
        inner.open.insert(id, decision);
        Entry::New(id)
    }

    /// Whose decision it is.
    pub fn session(&self, id: u64) -> Option<String> {
        self.lock().open.get(&id)?.key.session.clone()
    }

    /// Whether the start that `id` is about is still wanted, with its time budget.
    pub fn wanted(&self, id: u64) -> Option<(Cancel, u64)> {
        self.lock().open.get(&id).map(|decision| (decision.cancel.1.clone(), decision.timeout_ms))
    }

    /// Another question is open now.
    pub fn goes_on(&self, id: u64, ticket: u64) {
        if let Some(decision) = self.lock().open.get_mut(&id) {
            decision.ticket = ticket;
        }
    }

    /// It is decided. False when nobody wants it any more.
    pub fn settle(&self, id: u64, outcome: Outcome) -> bool {
        let mut inner = self.lock();
        let Some(decision) = inner.open.get_mut(&id) else { return false };
        decision.decided = Some(Instant::now());
        decision.outcome.send_replace(Some(outcome));
        true
    }

    /// Settles all that are open.
    pub fn settle_all(&self, error: &WireError) {
        for (_, decision) in self.lock().open.drain() {
            if decision.decided.is_none() {
                decision.cancel.0.send_replace(true);
                decision.outcome.send_replace(Some(Err(Box::new(error.clone()))));
            }
        }
    }

    /// Waits for a decision that [`Self::enter`] counted this call in for. `None` if it is not known.
    pub async fn wait(&self, id: u64, most: Duration, mut cancel: Cancel) -> Option<Waited> {
        let mut outcome = self.lock().open.get(&id)?.outcome.subscribe();
        let gave_up = tokio::select! {
            biased;
            _ = outcome.wait_for(Option::is_some) => false,
            () = cancel.set() => true,
            () = tokio::time::sleep(most) => false,
        };
        Some(self.leave(id, &outcome, gave_up))
    }

    fn leave(&self, id: u64, outcome: &watch::Receiver<Option<Outcome>>, gave_up: bool) -> Waited {
        let mut inner = self.lock();
        let left = inner.open.get_mut(&id).map(|decision| {
            decision.waiting -= 1;
            decision.waiting
        });
        // Also one that came at the last moment: it counted on this call to take it.
        if let Some(decided) = outcome.borrow().clone() {
            if left == Some(0) {
                inner.open.remove(&id);
            }
            return Waited::Decided(decided);
        }
        let Some(decision) = inner.open.get_mut(&id) else { return Waited::Left };
        if !gave_up {
            decision.promised = true;
            return Waited::Pending;
        }
        if decision.waiting > 0 || decision.promised {
            return Waited::Left;
        }
        decision.cancel.0.send_replace(true);
        let ticket = decision.ticket;
        inner.open.remove(&id);
        Waited::Withdrawn(ticket)
    }
}

#[cfg(test)]
#[path = "decisions_tests.rs"]
mod tests;
