//! Who talks to a keeper: the host that started the command, and any other host on the vault.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use super::protocol::{Inbox, Order, Report, encode};
use crate::os::socket;
use crate::vault::layout;

/// Most other hosts at one time; one more is turned away and may read the record instead.
const MAX_PEERS: usize = 64;

/// One connection.
#[derive(Debug)]
struct Peer {
    socket: UnixStream,
    inbox: Inbox,
}

/// All connections.
#[derive(Debug)]
pub struct Peers {
    host: Option<Peer>,
    others: Vec<Peer>,
    listener: Option<UnixListener>,
}

/// What one peer had to say.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Orders, in the order of their coming.
    Orders(Vec<Order>),
    /// It is gone: the end of the stream and any error mean the same.
    Gone,
}

impl Peers {
    /// The host alone, with what it has already sent beyond the specification.
    pub fn new(host: UnixStream, inbox: Inbox) -> Self {
        Self { host: Some(Peer { socket: host, inbox }), others: Vec::new(), listener: None }
    }

    /// Listens in the task's folder too. Without a socket the command is simply not reachable from other processes.
    pub fn listen(&mut self, folder: BorrowedFd<'_>) {
        use std::os::fd::AsRawFd as _;
        // By the descriptor: the vault's own path may be longer than the 107 bytes of `sun_path` (`unix(7)`).
        let path = format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), layout::CONTROL);
        self.listener =
            UnixListener::bind(path).ok().filter(|listener| listener.set_nonblocking(true).is_ok());
    }

    /// Stops listening, for good.
    pub fn close_listener(&mut self, folder: &OwnedFd) {
        if self.listener.take().is_some() {
            let _ = nix::unistd::unlinkat(folder, layout::CONTROL, nix::unistd::UnlinkatFlags::NoRemoveDir);
        }
    }

    /// What to wait on: the host, the listener, the others; absent ones as `None`.
    pub fn descriptors(&self) -> impl Iterator<Item = Option<BorrowedFd<'_>>> {
        let host = self.host.as_ref().map(|peer| peer.socket.as_fd());
        let listener = self.listener.as_ref().map(AsFd::as_fd);
        [host, listener].into_iter().chain(self.others.iter().map(|peer| Some(peer.socket.as_fd())))
    }

    /// Reads from the host; a host that is gone is forgotten.
    pub fn hear_host(&mut self) -> Heard {
        let heard = self.host.as_mut().map_or(Heard::Orders(Vec::new()), hear);
        if heard == Heard::Gone {
            self.host = None;
        }
        heard
    }

    /// Reads from the others; those gone are forgotten.
    pub fn hear_others(&mut self) -> Vec<Order> {
        let mut all = Vec::new();
        self.others.retain_mut(|peer| match hear(peer) {
            Heard::Orders(orders) => {
                all.extend(orders);
                true
            }
            Heard::Gone => false,
        });
        all
    }

    /// Takes those who are waiting to be let in.
    pub fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        while let Ok((socket, _)) = listener.accept() {
            if self.others.len() < MAX_PEERS {
                self.others.push(Peer { socket, inbox: Inbox::default() });
            }
        }
    }

    /// Tells the host.
    pub fn tell_host(&self, report: &Report) {
        if let (Some(host), Ok(bytes)) = (&self.host, encode(report)) {
            tell(&host.socket, &bytes);
        }
    }

    /// Tells everybody.
    pub fn tell_all(&self, report: &Report) {
        let Ok(bytes) = encode(report) else { return };
        for peer in self.host.iter().chain(&self.others) {
            tell(&peer.socket, &bytes);
        }
    }
}

/// Sends without waiting. Reports are few and small; a peer whose buffer is full has not read for long, and finds
/// the record when it does.
pub fn tell(peer: &UnixStream, bytes: &[u8]) {
    let _ = socket::send(peer, bytes, &[]);
}

fn hear(peer: &mut Peer) -> Heard {
    let mut buffer = [0; 1024];
    match socket::receive(&peer.socket, &mut buffer, false) {
        Ok(received) if received.bytes > 0 => peer.inbox.push(&buffer[..received.bytes]),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Ok(_) | Err(_) => return Heard::Gone,
    }
    let mut orders = Vec::new();
    loop {
        match peer.inbox.take() {
            Ok(Some(order)) => orders.push(order),
            Ok(None) => return Heard::Orders(orders),
            Err(_) => return Heard::Gone,
        }
    }
}
