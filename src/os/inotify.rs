//! Changes in directories as the kernel tells them (`inotify(7)`), awaited in the async runtime.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, RawFd};

use nix::errno::Errno;
pub use nix::sys::inotify::{AddWatchFlags, InotifyEvent, WatchDescriptor};
use nix::sys::inotify::{InitFlags, Inotify};
use tokio::io::unix::AsyncFd;

/// An open inotify descriptor.
#[derive(Debug)]
pub struct Notifier(AsyncFd<Source>);

#[derive(Debug)]
struct Source(Inotify);

impl AsRawFd for Source {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Notifier {
    /// Opens one, within the async runtime. `EMFILE`: the user has `fs.inotify.max_user_instances` already.
    pub fn open() -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        // SAFETY: the source owns its descriptor, and nothing replaces or closes it before it is dropped.
        #[expect(unsafe_code, reason = "the safe constructor is deprecated for hiding this")]
        let source = unsafe { AsyncFd::register(Source(inotify)) };
        Ok(Self(source?))
    }

    /// Watches the very directory that is open, whatever its path names by now. The same one again is the same watch.
    pub fn add(&self, directory: BorrowedFd<'_>, kinds: AddWatchFlags) -> io::Result<WatchDescriptor> {
        Ok(self.0.get_ref().0.add_watch(&crate::os::path::name_under_proc(directory), kinds)?)
    }

    /// Watches it no longer. One that the kernel has dropped already, with its directory, is nothing to complain of.
    pub fn remove(&self, watch: WatchDescriptor) {
        let _ = self.0.get_ref().0.rm_watch(watch);
    }

    /// Waits for the next events.
    pub async fn next(&self) -> io::Result<Vec<InotifyEvent>> {
        loop {
            let mut ready = self.0.readable().await?;
            match ready.get_inner().0.read_events() {
                Ok(events) => return Ok(events),
                Err(Errno::EAGAIN) => ready.clear_ready(),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
