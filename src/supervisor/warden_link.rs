//! The host's end of the warden: starting it, sending to it, learning that it is gone.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::error::SupervisorError;
use super::outlook::Outlook;
use crate::confinement::Rules;
use crate::limits;
use crate::os::socket;
use crate::warden::protocol::Forecast;

/// How many commands there are to watch over.
#[derive(Debug, Clone, Default)]
pub struct Charges(Arc<watch::Sender<usize>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Charge(Charges);

impl Charges {
    /// One more.
    pub fn add(&self) -> Charge {
        self.0.send_modify(|count| *count += 1);
        Charge(self.clone())
    }

    /// Waits until there is one.
    async fn any(&self) {
        // The sender is this one's own, so it can't be gone.
        let _ = self.0.subscribe().wait_for(|count| *count > 0).await;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// A running warden.
#[derive(Debug)]
pub struct WardenLink {
    socket: UnixStream,
    /// One message at a time: a cut one must not be followed by another's beginning.
    sending: tokio::sync::Mutex<()>,
    child: Mutex<Option<Child>>,
    gone: AtomicBool,
    path: PathBuf,
    charges: Charges,
    outlook: Mutex<Outlook>,
}

impl WardenLink {
    /// Starts the warden at `path`. `std` uses `posix_spawn` as long as nothing has to run in the child between fork
    /// and exec, so the cost doesn't grow with this process.
    pub fn start(path: &Path, charges: Charges) -> Result<Self, SupervisorError> {
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
            charges,
            outlook: Mutex::default(),
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

    /// Waits until it is gone, and reaps it. Meanwhile it isn't left stopped, as long as there is anything to watch over:
    /// what happens to keepers is not noticed by a stopped one.
    pub async fn watch(&self) {
        const OFTEN: Duration = Duration::from_millis(limits::WARDEN_WAKE_MS);
        while !self.is_gone() {
            let glance = async {
                self.charges.any().await;
                tokio::time::sleep(OFTEN).await;
            };
            tokio::select! {
                readable = self.socket.readable() => {
                    if readable.is_err() {
                        self.bury();
                    }
                }
                () = glance => self.wake(),
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

    /// What to tell it of the commands to come, given what this one is confined to.
    pub fn forecast(&self, rules: Option<&Rules>) -> Option<Forecast> {
        self.outlook.lock().ok()?.after(rules)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Stands where the warden would: notes each SIGCONT beside itself, and ends with its socket.
    const NOTES_CONT: &str = "#!/bin/sh\ntrap 'echo x >> $0.woken' CONT\necho up > $0.up\nexec 3<&0\n\
                              cat <&3 > /dev/null &\nwhile kill -0 $! 2> /dev/null; do wait $!; done\n";

    async fn until(what: &str, fact: impl Fn() -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !fact() {
            assert!(Instant::now() < end, "waited in vain for {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_warden_is_let_go_on_once_a_second_however_many_commands_run_and_never_while_none_does() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("warden");
        std::fs::write(&file, NOTES_CONT).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let noted =
            || std::fs::read_to_string(dir.path().join("warden.woken")).unwrap_or_default().lines().count();
        let charges = Charges::default();
        let link = Arc::new(WardenLink::start(&file, charges.clone()).unwrap());
        let watched = Arc::clone(&link);
        let watching = tokio::spawn(async move { watched.watch().await });
        until("the stand-in", || dir.path().join("warden.up").exists()).await;

        let begun = Instant::now();
        let running: Vec<_> = (0..1000).map(|_| charges.add()).collect();
        until("a third glance", || noted() >= 3).await;
        let (glances, seconds) = (noted() as u64, begun.elapsed().as_secs());
        assert!(seconds >= 2 && glances <= seconds + 1, "{glances} glances in {seconds} s");

        drop(running);
        // One more may be on its way; after that two of its times pass without any.
        tokio::time::sleep(Duration::from_millis(limits::WARDEN_WAKE_MS)).await;
        let idle = noted();
        tokio::time::sleep(Duration::from_millis(2 * limits::WARDEN_WAKE_MS)).await;
        assert_eq!(noted(), idle, "it was let go on though nothing ran");

        let _again = charges.add();
        until("a glance for the next command", || noted() > idle).await;
        link.abandon();
        watching.await.unwrap();
    }
}
