//! Changes in task folders, told by the kernel (`inotify(7)`): output that grows, a record that appears, a lock that
//! is let go.
//!
//! One inotify descriptor serves all who watch at a time, since a user may have 128 by default; it is opened by the
//! first and closed after the last. A folder is watched only while somebody waits, so output that nobody waits for
//! costs nothing. Nothing here says what changed but [`Change`]: whoever waits looks for itself.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::layout;
use crate::os::inotify::{AddWatchFlags, InotifyEvent, Notifier, WatchDescriptor};

/// What may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Some file of the task.
    Files,
    /// The last descriptor of the reserved record was closed. Its lock is let go right after this is told, not before
    /// (`__fput` in the kernel).
    Released,
}

/// Where the events of a host come from, opened when they are first needed.
#[derive(Debug, Default)]
pub struct Watcher(Mutex<Weak<Events>>);

impl Watcher {
    /// The events, for as long as this is held. Called within the async runtime.
    pub fn events(&self) -> io::Result<Arc<Events>> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(events) = current.upgrade() {
            return Ok(events);
        }
        let events = Events::open()?;
        *current = Arc::downgrade(&events);
        Ok(events)
    }
}

/// An open inotify descriptor and who waits for what.
#[derive(Debug)]
pub struct Events {
    source: Option<Arc<Notifier>>,
    waiting: Mutex<HashMap<WatchDescriptor, watch::Sender<Change>>>,
    reader: Mutex<Option<AbortHandle>>,
    runtime: Handle,
}

impl Events {
    fn open() -> io::Result<Arc<Self>> {
        let source = Arc::new(Notifier::open()?);
        let events = Arc::new(Self {
            source: Some(Arc::clone(&source)),
            waiting: Mutex::default(),
            reader: Mutex::default(),
            runtime: Handle::current(),
        });
        let reader = tokio::spawn(read(source, Arc::downgrade(&events)));
        *events.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader.abort_handle());
        Ok(events)
    }

    /// Watches a task's folder from now on.
    pub fn watch(self: &Arc<Self>, folder: &OwnedFd) -> io::Result<Watch> {
        let Some(source) = &self.source else { return Err(io::Error::from(io::ErrorKind::NotConnected)) };
        let kinds = AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_DELETE;
        // Held over both, so that the last to leave doesn't take a newcomer's watch along: one folder has one.
        let mut waiting = self.waiting();
        let descriptor = source.add(folder.as_fd(), kinds)?;
        let sender = waiting.entry(descriptor).or_insert_with(|| watch::Sender::new(Change::Files));
        let changes = sender.subscribe();
        drop(waiting);
        Ok(Watch { events: Arc::clone(self), descriptor, changes })
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<WatchDescriptor, watch::Sender<Change>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, events: &[InotifyEvent]) {
        let waiting = self.waiting();
        for event in events {
            let closed = event.mask.contains(AddWatchFlags::IN_CLOSE_WRITE)
                && event.name.as_deref() == Some(OsStr::new(layout::PENDING));
            let change = if closed { Change::Released } else { Change::Files };
            if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                // Whose events were lost can't be told.
                waiting.values().for_each(|sender| say(sender, Change::Released));
            } else if let Some(sender) = waiting.get(&event.wd) {
                say(sender, change);
            }
        }
    }
}

/// A release is not hidden by what comes after it: who waits may see only the last word.
fn say(sender: &watch::Sender<Change>, change: Change) {
    sender.send_modify(|last| {
        if *last == Change::Files {
            *last = change;
        }
    });
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take() {
            reader.abort();
        }
        // Closing an inotify descriptor waits for the kernel to be done with it: not on a thread that mustn't wait.
        let source = self.source.take();
        self.runtime.spawn_blocking(move || drop(source));
    }
}

async fn read(source: Arc<Notifier>, events: Weak<Events>) {
    while let Ok(got) = source.next().await {
        let Some(events) = events.upgrade() else { return };
        events.tell(&got);
    }
}

/// One who waits for changes in one folder.
#[derive(Debug)]
pub struct Watch {
    events: Arc<Events>,
    descriptor: WatchDescriptor,
    changes: watch::Receiver<Change>,
}

impl Watch {
    /// Waits for the next change since the watch began or since this was last called.
    pub async fn changed(&mut self) -> Change {
        match self.changes.changed().await {
            Ok(()) => *self.changes.borrow_and_update(),
            // The sender lives as long as this does.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut waiting = self.events.waiting();
        if waiting.get(&self.descriptor).is_some_and(|sender| sender.receiver_count() <= 1) {
            waiting.remove(&self.descriptor);
            if let Some(source) = &self.events.source {
                source.remove(self.descriptor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;
    use std::time::Duration;

    fn folder() -> (tempfile::TempDir, OwnedFd) {
        let dir = tempfile::tempdir().unwrap();
        let fd = File::open(dir.path()).unwrap().into();
        (dir, fd)
    }

    async fn soon<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(20), future).await.unwrap()
    }

    #[tokio::test]
    async fn growth_a_new_name_and_a_release_are_told_to_all_who_wait() {
        let (dir, fd) = folder();
        let mut pending = File::create(dir.path().join(layout::PENDING)).unwrap();
        let watcher = Watcher::default();
        let events = watcher.events().unwrap();
        let mut both = [events.watch(&fd).unwrap(), events.watch(&fd).unwrap()];
        pending.write_all(b"x").unwrap();
        for watch in &mut both {
            assert_eq!(soon(watch.changed()).await, Change::Files);
        }
        std::fs::write(dir.path().join("new"), "").unwrap();
        std::fs::rename(dir.path().join("new"), dir.path().join(layout::RECORD)).unwrap();
        soon(both[0].changed()).await;
        drop(pending);
        while soon(both[0].changed()).await != Change::Released {}
        let [first, second] = both;
        drop(first);
        drop(second);
        assert!(events.waiting().is_empty());
    }

    #[tokio::test]
    async fn the_descriptor_is_shared_and_goes_with_the_last_who_holds_it() {
        let watcher = Watcher::default();
        let events = watcher.events().unwrap();
        assert!(Arc::ptr_eq(&events, &watcher.events().unwrap()));
        let source = Arc::downgrade(events.source.as_ref().unwrap());
        drop(events);
        soon(async {
            while source.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        watcher.events().unwrap();
    }

    #[tokio::test]
    async fn a_folder_that_is_emptied_is_told() {
        let (dir, fd) = folder();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let events = Watcher::default().events().unwrap();
        let mut watch = events.watch(&fd).unwrap();
        drop(dir);
        soon(watch.changed()).await;
    }
}
