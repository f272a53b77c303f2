//! Handing one command over: two sends, one answer.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use super::error::SupervisorError;
use super::live::{KeeperLink, Settlement};
use super::warden_link::{Charge, Charges, WardenLink, send_all};
use crate::limits;
use crate::os::socket;
use crate::vault::layout;
use crate::vault::store::NewTask;
use crate::warden::protocol::{
    Forecast, Launch, MAX_LAUNCH, Refused, Report, Specification, VERSION, encode,
};

/// Everything that a keeper gets.
#[derive(Debug)]
pub struct Handover {
    /// What to run.
    pub specification: Specification,
    /// Where its output and record go.
    pub task: NewTask,
    /// Where it runs.
    pub cwd: OwnedFd,
    /// The program, when it is exec'd by descriptor.
    pub program: Option<OwnedFd>,
    /// Its standard input, if it has one.
    pub input: Option<OwnedFd>,
    /// fsync what is written.
    pub sync: bool,
}

/// What came of it.
#[derive(Debug)]
pub enum Handed {
    /// The program runs.
    Running(KeeperLink),
    /// It could not be started, and that is recorded.
    Settled(Settlement),
}

/// One warden for the whole process, started when it is first needed and again when it is gone.
#[derive(Debug)]
pub struct Supervisor {
    warden: PathBuf,
    link: tokio::sync::Mutex<Option<Arc<WardenLink>>>,
    charges: Charges,
}

/// Why one try failed.
enum Try {
    /// Nothing ran, for this reason.
    Failed(SupervisorError),
    /// The warden was gone before anything ran.
    WardenGone(SupervisorError),
}

impl Supervisor {
    /// With the warden's file at `warden`.
    pub fn new(warden: PathBuf) -> Self {
        Self { warden, link: tokio::sync::Mutex::new(None), charges: Charges::default() }
    }

    /// Hands a command over and waits for the first word of it.
    pub async fn hand_over(&self, handover: &Handover) -> Result<Handed, SupervisorError> {
        match self.try_once(handover).await {
            Ok(handed) => Ok(handed),
            Err(Try::Failed(error)) => Err(error),
            // It may have been killed just now, or be dead for long: a new one gets one chance.
            Err(Try::WardenGone(_)) => self.try_once(handover).await.map_err(|failure| match failure {
                Try::Failed(error) | Try::WardenGone(error) => error,
            }),
        }
    }

    /// The process id of the warden that serves now, if one does.
    pub async fn warden_pid(&self) -> Option<u32> {
        self.link.lock().await.as_ref()?.pid()
    }

    /// Says that a command runs, until what this gives is dropped: the warden isn't left stopped meanwhile.
    pub fn charge(&self) -> Charge {
        self.charges.add()
    }

    /// Starts the warden ahead of the first command.
    pub async fn warm_up(&self) {
        let _ = self.link().await;
    }

    async fn link(&self) -> Result<Arc<WardenLink>, SupervisorError> {
        let mut link = self.link.lock().await;
        if let Some(link) = link.as_ref().filter(|link| !link.is_gone()) {
            return Ok(Arc::clone(link));
        }
        let new = Arc::new(WardenLink::start(&self.warden, self.charges.clone())?);
        let watched = Arc::clone(&new);
        tokio::spawn(async move { watched.watch().await });
        *link = Some(Arc::clone(&new));
        Ok(new)
    }

    async fn try_once(&self, handover: &Handover) -> Result<Handed, Try> {
        let warden = self.link().await.map_err(Try::Failed)?;
        let (own, keepers) = pair().map_err(|error| system("making a socket", error))?;
        let specification =
            encode(&handover.specification).map_err(|error| system("writing the specification", error))?;
        let descriptors = handover.descriptors();

        let launch = Launch {
            version: VERSION.into(),
            overdue_ms: handover.overdue_ms(),
            sync: handover.sync,
            ahead: warden.forecast(handover.specification.confinement.as_ref()),
        };
        let launch = encode_launch(launch).map_err(|error| system("writing the launch", error))?;
        let task = &handover.task;
        let sent = warden.send(&launch, &[keepers.as_fd(), task.folder.as_fd(), task.pending.as_fd()]).await;
        drop(keepers);
        let gone = || Try::WardenGone(SupervisorError::WardenGone { path: warden.path() });
        match sent {
            Err(error) if is_shortage(&error) => return Err(system("sending to the warden", error)),
            Err(_) => {
                warden.abandon();
                return Err(gone());
            }
            Ok(()) => {}
        }
        // Whether it arrives shows in the answer.
        match send_all(&own, &specification, &descriptors).await {
            Err(error) if is_shortage(&error) => return Err(system("sending to the keeper", error)),
            Ok(()) | Err(_) => {}
        }
        let mut link = KeeperLink::new(own);
        let report = first_report(&mut link, &warden).await.map_err(Try::Failed)?;
        match report {
            Some(Report::Started | Report::MainEnded(_)) => Ok(Handed::Running(link)),
            Some(Report::Settled { outcome, stored }) => {
                Ok(Handed::Settled(Settlement { outcome: Arc::new(*outcome), stored }))
            }
            Some(Report::Refused(refused)) => Err(Try::Failed(self.refusal(&warden, refused).await)),
            // Keeper and warden were killed during the start, and a program may have run: whoever follows the link
            // finds its end.
            None if layout::is_marked_started(&task.pending).unwrap_or(true) => Ok(Handed::Running(link)),
            // The descriptors of a process that is killed are closed one by one.
            None if warden.ends_within(Duration::from_millis(limits::WARDEN_ENDING_MS)).await => Err(gone()),
            // The warden lives and closed the socket: the kernel had no room there for the descriptors.
            None => {
                Err(system("handing descriptors to the warden", io::Error::from_raw_os_error(libc::EMFILE)))
            }
        }
    }

    async fn refusal(&self, warden: &WardenLink, refused: Refused) -> SupervisorError {
        match refused {
            Refused::Version { warden: version } => {
                // Another file may be in its place by the next start.
                warden.abandon();
                *self.link.lock().await = None;
                SupervisorError::WardenVersion { path: warden.path(), warden: version, own: VERSION }
            }
            Refused::Resources { doing, errno } => {
                SupervisorError::Resources { doing, source: io::Error::from_raw_os_error(errno) }
            }
            Refused::Unconfined(reason) => SupervisorError::Unconfined { reason },
            Refused::Changed(reason) => SupervisorError::Changed { reason },
            Refused::Fault(reason) => SupervisorError::Fault { reason },
        }
    }
}

impl Handover {
    /// In the order that [`Specification`] names.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let outputs: [&File; 2] = [&self.task.stdout, &self.task.stderr];
        let input = self.input.iter().map(|fd| fd.as_fd());
        let rest = std::iter::once(self.cwd.as_fd()).chain(self.program.iter().map(|fd| fd.as_fd()));
        input.chain(outputs.into_iter().map(|file| file.as_fd())).chain(rest).collect()
    }

    /// When its keeper should be gone: its budget and graces, the bound of the killing, and some room.
    fn overdue_ms(&self) -> u64 {
        let Specification { timeout_ms, kill_grace_ms, stray_grace_ms, .. } = self.specification;
        [kill_grace_ms, stray_grace_ms, limits::UNKILLABLE_AFTER_MS, limits::KEEPER_OVERDUE_MS]
            .into_iter()
            .fold(timeout_ms, u64::saturating_add)
    }
}

/// One that would be too long with its forecast goes with the plainest.
fn encode_launch(mut launch: Launch) -> io::Result<Vec<u8>> {
    let bytes = encode(&launch)?;
    if bytes.len() <= MAX_LAUNCH {
        return Ok(bytes);
    }
    launch.ahead = Some(Forecast::Free);
    encode(&launch)
}

/// Waits for the first report, waking a warden that somebody stopped.
async fn first_report(link: &mut KeeperLink, warden: &WardenLink) -> Result<Option<Report>, SupervisorError> {
    const GLANCE: Duration = Duration::from_millis(limits::WARDEN_WAKE_MS);
    for _ in 0..limits::START_REPLY_MS / limits::WARDEN_WAKE_MS {
        match timeout(GLANCE, link.next()).await {
            Ok(report) => return Ok(report),
            Err(_) => warden.wake(),
        }
    }
    warden.abandon();
    Err(SupervisorError::NoAnswer { ms: limits::START_REPLY_MS })
}

fn pair() -> io::Result<(UnixStream, std::os::unix::net::UnixStream)> {
    let (own, keepers) = socket::pair()?;
    own.set_nonblocking(true)?;
    Ok((UnixStream::from_std(own)?, keepers))
}

fn system(doing: &str, error: io::Error) -> Try {
    Try::Failed(SupervisorError::system(doing, error))
}

/// Out of descriptors or memory; `ETOOMANYREFS`: too many descriptors in flight for this user (`unix(7)`).
fn is_shortage(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS | libc::ETOOMANYREFS)
    )
}
