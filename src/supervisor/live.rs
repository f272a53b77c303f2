//! A command that this process started and that is not over: what is known of it, and its socket to the keeper.

use std::io;
use std::sync::Arc;

use tokio::net::UnixStream;
use tokio::sync::watch;

use crate::os::signal::SignalNumber;
use crate::vault::record::{Cause, MainExit, Outcome};
use crate::warden::protocol::{Inbox, Order, Report, encode};

/// How a live command stands.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It waits for its turn.
    Queued,
    /// Its program runs.
    Running,
    /// Its main process has ended by itself; others of its tree live.
    MainEnded(MainExit),
    /// It is over.
    Settled(Settlement),
}

/// The end of a command.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// Whether the vault has it. If not, this is all there is.
    pub stored: bool,
}

/// The host's end of a command's socket.
#[derive(Debug)]
pub struct KeeperLink {
    socket: UnixStream,
    inbox: Inbox,
}

/// A second handle on the same socket, for orders.
#[derive(Debug, Clone)]
pub struct Orders(Arc<UnixStream>);

impl KeeperLink {
    /// Over a connected socket.
    pub fn new(socket: UnixStream) -> Self {
        Self { socket, inbox: Inbox::default() }
    }

    /// The next report; `None` when nobody is there any more. Any error means the same.
    pub async fn next(&mut self) -> Option<Report> {
        next_report(&self.socket, &mut self.inbox).await
    }

    /// Splits it into a reader and a handle for orders.
    pub fn split(self) -> (Reader, Orders) {
        let socket = Arc::new(self.socket);
        (Reader { socket: Arc::clone(&socket), inbox: self.inbox }, Orders(socket))
    }
}

/// The reading side.
#[derive(Debug)]
pub struct Reader {
    socket: Arc<UnixStream>,
    inbox: Inbox,
}

impl Reader {
    /// Follows the reports until the command is over. `None`: keeper and warden are both gone, and said nothing.
    pub async fn follow(mut self, standing: &watch::Sender<Standing>) -> Option<Settlement> {
        loop {
            match next_report(&self.socket, &mut self.inbox).await? {
                Report::MainEnded(exit) => {
                    standing.send_replace(Standing::MainEnded(exit));
                }
                Report::Settled { outcome, stored } => {
                    return Some(Settlement { outcome: Arc::new(*outcome), stored });
                }
                Report::Started | Report::Refused(_) => {}
            }
        }
    }
}

impl Orders {
    /// Has the keeper end the tree. An order that can't be sent finds the keeper ending anyway.
    pub fn end(&self, signal: SignalNumber, cause: Cause) {
        if let Ok(bytes) = encode(&Order::End { signal: signal.as_raw(), cause }) {
            let _ = crate::os::socket::send(&*self.0, &bytes, &[]);
        }
    }
}

async fn next_report(socket: &UnixStream, inbox: &mut Inbox) -> Option<Report> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(report) = inbox.take().ok()? {
            return Some(report);
        }
        match socket.try_read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => inbox.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.readable().await.ok()?,
            Err(_) => return None,
        }
    }
}
