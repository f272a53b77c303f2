//! Followers: live output, one piece for each time it is asked for.
//!
//! Nothing is read ahead: a follower that isn't asked costs two descriptors and no work.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::CommandHost;
use super::error::HostError;
use super::pages::read_stream;
use super::reads::known;
use crate::error::Error;
use crate::input::{Fields, Value};
use crate::supervisor::live::Standing;
use crate::vault::error::VaultError;
use crate::vault::follow::Follower;
use crate::vault::watch::{Change, Events};

/// Whether a follower goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    /// It does.
    On,
    /// It ends where its stream ends now.
    Out,
    /// It is closed.
    Closed,
}

struct Following {
    going: watch::Sender<Going>,
    inner: tokio::sync::Mutex<Inner>,
}

struct Inner {
    follower: Follower,
    events: Arc<Events>,
    /// Of a command of this host that was live when the following began.
    standing: Option<watch::Receiver<Standing>>,
}

/// The open followers of one host.
#[derive(Default)]
pub(super) struct Followers {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Following>>>,
}

impl Followers {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Following>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, follower: u64) {
        let closed = self.open().remove(&follower);
        if let Some(closed) = closed {
            closed.going.send_replace(Going::Closed);
        }
    }

    /// Closes all: whoever waits for more is told that there is none.
    pub fn close_all(&self) {
        let all = std::mem::take(&mut *self.open());
        for following in all.values() {
            following.going.send_replace(Going::Closed);
        }
    }

    /// Has all end where their streams end now. Those with nothing left to read are closed.
    pub fn run_out(&self) {
        self.open().retain(|_, following| {
            following.going.send_replace(Going::Out);
            // One that can't be locked is being asked, and ends by itself.
            following.inner.try_lock().map_or(true, |inner| !inner.follower.is_at_end())
        });
    }
}

impl CommandHost {
    /// Begins to follow a command's output: `{ stream?, from? }`. The number is what [`Self::follow_next`] takes.
    /// Called within the async runtime.
    pub fn follow(&self, task: &str, options: &Value) -> Result<u64, Error> {
        let id = known(task)?;
        let mut fields = Fields::of(options, "options")?;
        let stream = read_stream(&mut fields)?;
        let from = fields.field("from").unsigned_integer()?.unwrap_or(0);
        fields.finish()?;

        let standing = self.registry.get(&id).map(|live| live.standing);
        let vault = self.vault()?;
        if standing.is_none() {
            vault.command(&id)?;
        }
        let follower = Follower::open(vault, &id, stream, from)?;
        let events = self.watcher.events().map_err(|source| VaultError::Watch { source })?;
        self.registry.seen(&id);
        let inner = tokio::sync::Mutex::new(Inner { follower, events, standing });
        let following = Arc::new(Following { going: watch::Sender::new(Going::On), inner });
        let number = self.followers.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.followers.open().insert(number, following);
        Ok(number)
    }

    /// The next piece; `None` when there will be none.
    pub async fn follow_next(&self, number: u64) -> Result<Option<Vec<u8>>, Error> {
        let following = self.followers.open().get(&number).cloned();
        let Some(following) = following else {
            let was_open = (1..=self.followers.last.load(Ordering::Relaxed)).contains(&number);
            return if was_open { Ok(None) } else { Err(HostError::NoSuchFollower.into()) };
        };
        let mut going = following.going.subscribe();
        let piece = {
            let mut closing = following.going.subscribe();
            tokio::select! {
                biased;
                // An error would say that the follower is gone, which is held here.
                _ = closing.wait_for(|going| *going == Going::Closed) => Ok(None),
                piece = async { self.next_piece(&mut *following.inner.lock().await, &mut going).await } => piece,
            }
        };
        if !matches!(piece, Ok(Some(_))) {
            self.followers.close(number);
        }
        piece
    }

    /// Closes a follower; whoever waits for its next piece is told that there is none.
    pub fn follow_close(&self, number: u64) {
        self.followers.close(number);
    }

    async fn next_piece(
        &self,
        inner: &mut Inner,
        going: &mut watch::Receiver<Going>,
    ) -> Result<Option<Vec<u8>>, Error> {
        loop {
            if let Some(piece) = inner.follower.read()? {
                return Ok(Some(piece));
            }
            // Watched before the last look, so that nothing falls between looking and waiting; and over before it,
            // so that what is final then is all there.
            let watched = inner.events.watch(inner.follower.folder());
            let mut watch = watched.map_err(|source| VaultError::Watch { source })?;
            let over = *going.borrow_and_update() == Going::Out || self.is_over(inner);
            if let Some(piece) = inner.follower.read()? {
                return Ok(Some(piece));
            }
            if over {
                return Ok(None);
            }
            let task = *inner.follower.task();
            let change = tokio::select! {
                change = watch.changed() => change,
                () = stands_otherwise(&mut inner.standing) => Change::Files,
                _ = going.changed() => Change::Files,
            };
            if change == Change::Released && inner.standing.is_none() {
                self.let_go(&task).await;
            }
        }
    }

    fn is_over(&self, inner: &Inner) -> bool {
        match &inner.standing {
            Some(standing) => {
                matches!(*standing.borrow(), Standing::Settled(_)) || standing.has_changed().is_err()
            }
            None => !self.is_live_elsewhere(inner.follower.task()),
        }
    }
}

async fn stands_otherwise(standing: &mut Option<watch::Receiver<Standing>>) {
    match standing {
        // An error says that it is over too.
        Some(standing) => drop(standing.changed().await),
        None => std::future::pending().await,
    }
}
