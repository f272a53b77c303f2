//! The host's end of the warden: starting it, sending to it, learning that it is gone.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixStream;

use super::error::SupervisorError;
use crate::os::socket;

/// A running warden.
#[derive(Debug)]
pub struct WardenLink {
    socket: UnixStream,
    /// One message at a time: a cut one must not be followed by another's beginning.
    sending: tokio::sync::Mutex<()>,
    child: Mutex<Option<Child>>,
    gone: AtomicBool,
    path: PathBuf,
}

impl WardenLink {
    /// Starts the warden at `path`. `std` uses `posix_spawn` as long as nothing has to run in the child between fork
    /// and exec, so the cost doesn't grow with this process.
    pub fn start(path: &Path) -> Result<Self, SupervisorError> {
        let (own, theirs) =
            socket::pair().map_err(|error| SupervisorError::system("making a socket", error))?;
        let child = Command::new(path)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| match source.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => {
                    SupervisorError::system("starting the warden", source)
                }
                _ => SupervisorError::WardenUnusable { path: path.display().to_string(), source },
            })?;
        let socket = own
            .set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(own))
            .map_err(|error| SupervisorError::system("watching the warden", error))?;
        Ok(Self {
            socket,
            sending: tokio::sync::Mutex::new(()),
            child: Mutex::new(Some(child)),
            gone: AtomicBool::new(false),
            path: path.to_owned(),
        })
    }

    /// Whether it is known to be gone.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) || self.ended()
    }

    /// Where it was started from.
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Its process id, while it hasn't been reaped.
    pub fn pid(&self) -> Option<u32> {
        self.child.lock().ok()?.as_ref().map(Child::id)
    }

    /// Looks at the socket: the warden never writes, so anything readable is its end. Reaps it then, which takes as
    /// long as the kernel needs to finish its exit.
    fn ended(&self) -> bool {
        let mut byte = [0; 1];
        match self.socket.try_read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            _ => {
                self.bury();
                true
            }
        }
    }

    fn bury(&self) {
        self.gone.store(true, Ordering::Release);
        if let Ok(mut child) = self.child.lock()
            && let Some(mut child) = child.take()
        {
            // It has closed its socket: it is ending, or was told to by this.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits until it is gone, and reaps it.
    pub async fn watch(&self) {
        while !self.is_gone() {
            if self.socket.readable().await.is_err() {
                self.bury();
            }
        }
    }

    /// Whether it is gone, or is within `span`.
    pub async fn ends_within(&self, span: Duration) -> bool {
        tokio::time::timeout(span, self.watch()).await.is_ok()
    }

    /// Lets a stopped warden go on. Harmless for one that runs.
    pub fn wake(&self) {
        if let Some(pid) = self.pid().and_then(|pid| i32::try_from(pid).ok()) {
            let _ = crate::os::process::signal_child(pid, crate::os::signal::SignalNumber::CONT);
        }
    }

    /// Gives up on it: its keepers go on, and the next start gets a new one.
    pub fn abandon(&self) {
        self.bury();
    }

    /// Sends one message with descriptors.
    pub async fn send(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let _turn = self.sending.lock().await;
        send_all(&self.socket, bytes, descriptors).await
    }
}

/// Sends all of `bytes`, the descriptors with the first of them.
pub async fn send_all(to: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut rest = bytes;
    let mut descriptors = descriptors;
    while !rest.is_empty() {
        // Tried at once: in the usual case the buffer has room and nothing waits.
        match to.try_io(Interest::WRITABLE, || socket::send(to, rest, descriptors)) {
            Ok(sent) => {
                rest = &rest[sent..];
                descriptors = &[];
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => to.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
