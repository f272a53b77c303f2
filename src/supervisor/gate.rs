//! Turns: how many commands of a host run at once, the excess waiting in the order of its coming.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// The gate of one host.
#[derive(Debug, Default)]
pub struct Gate {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    running: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    most: u64,
    turn: oneshot::Sender<Permit>,
}

/// A running command's place; dropping it lets the next one in.
#[derive(Debug)]
pub struct Permit {
    /// `None` once it is no longer this permit's to give back.
    gate: Option<Arc<Gate>>,
}

/// What asking for a place gives.
#[derive(Debug)]
pub enum Entry {
    /// A place.
    Now(Permit),
    /// A place in the queue. Dropping it leaves the queue.
    Later(oneshot::Receiver<Permit>),
}

impl Gate {
    /// Asks for a place among at most `most` (`None`: no bound).
    pub fn enter(self: &Arc<Self>, most: Option<u64>) -> Entry {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match most {
            Some(most) if inner.running >= most || inner.waiting.iter().any(|w| !w.turn.is_closed()) => {
                let (turn, place) = oneshot::channel();
                inner.waiting.push_back(Waiting { most, turn });
                Entry::Later(place)
            }
            _ => {
                inner.running += 1;
                Entry::Now(Permit { gate: Some(Arc::clone(self)) })
            }
        }
    }

    fn leave(self: &Arc<Self>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.running -= 1;
        // The one in front decides: nobody overtakes it, even one that a wider policy would let in.
        while inner.waiting.front().is_some_and(|front| inner.running < front.most || front.turn.is_closed())
        {
            let Some(front) = inner.waiting.pop_front() else { break };
            if front.turn.is_closed() {
                continue;
            }
            inner.running += 1;
            if let Err(mut permit) = front.turn.send(Permit { gate: Some(Arc::clone(self)) }) {
                // It left between the look and the sending. Dropping the permit would come back here while locked.
                inner.running -= 1;
                permit.gate = None;
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(entry: Entry) -> Permit {
        match entry {
            Entry::Now(permit) => permit,
            Entry::Later(_) => panic!("had to wait"),
        }
    }

    fn later(entry: Entry) -> oneshot::Receiver<Permit> {
        match entry {
            Entry::Later(place) => place,
            Entry::Now(_) => panic!("did not wait"),
        }
    }

    #[test]
    fn the_excess_waits_and_is_let_in_in_order() {
        let gate = Arc::new(Gate::default());
        let first = now(gate.enter(Some(1)));
        let mut second = later(gate.enter(Some(1)));
        let mut third = later(gate.enter(Some(1)));
        assert!(second.try_recv().is_err());
        drop(first);
        let second = second.try_recv().unwrap();
        assert!(third.try_recv().is_err());
        drop(second);
        drop(third.try_recv().unwrap());
        now(gate.enter(Some(1)));
    }

    #[test]
    fn one_who_left_the_queue_is_passed_over() {
        let gate = Arc::new(Gate::default());
        let first = now(gate.enter(Some(1)));
        drop(later(gate.enter(Some(1))));
        let mut third = later(gate.enter(Some(1)));
        drop(first);
        drop(third.try_recv().unwrap());
        assert_eq!(gate.inner.lock().unwrap().running, 0);
    }

    #[test]
    fn a_place_that_was_given_and_never_taken_is_given_back() {
        let gate = Arc::new(Gate::default());
        let first = now(gate.enter(Some(1)));
        let second = later(gate.enter(Some(1)));
        drop(first);
        drop(second);
        now(gate.enter(Some(1)));
    }

    #[test]
    fn without_a_bound_nobody_waits() {
        let gate = Arc::new(Gate::default());
        let _first = now(gate.enter(Some(1)));
        let _second = now(gate.enter(None));
        later(gate.enter(Some(2)));
    }
}
