//! A keeper that is forked before there is a command for it, while the warden has nothing else to do: what a fork costs, and
//! what the child pays for each page that it touches first, is paid by then.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use super::protocol::{ExecBy, Inbox, Launch, Limits, Report, Specification, encode};
use crate::os::process::Pid;
use crate::os::socket;
use crate::vault::record::{Cause, Outcome};

/// The warden's end of it.
#[derive(Debug)]
pub struct Spare {
    /// Its process.
    pub pid: Pid,
    socket: UnixStream,
}

impl Spare {
    /// The process `pid`, which waits at the other end of `socket`.
    pub fn new(pid: Pid, socket: UnixStream) -> Self {
        Self { pid, socket }
    }

    /// Gives it a command. An error: it is gone, or there is no room on the way to it; it has none then, and ends.
    pub fn employ(self, launch: &Launch, descriptors: &[OwnedFd]) -> io::Result<Pid> {
        let bytes = encode(launch)?;
        let borrowed: Vec<_> = descriptors.iter().map(|fd| fd.as_fd()).collect();
        match socket::send(&self.socket, &bytes, &borrowed)? {
            sent if sent == bytes.len() => Ok(self.pid),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

/// In the spare: waits for a command. `None`: none will come.
pub fn wait(warden: &UnixStream) -> io::Result<Option<(Launch, Vec<OwnedFd>)>> {
    let mut buffer = [0; 512];
    let (mut inbox, mut descriptors) = (Inbox::default(), Vec::new());
    loop {
        let received = socket::receive(warden, &mut buffer, true)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        descriptors.extend(received.descriptors);
        inbox.push(&buffer[..received.bytes]);
        if let Some(launch) = inbox.take()? {
            return Ok(Some((launch, descriptors)));
        }
    }
}

/// In the spare: reads and writes once what every command has read and written, so that the pages are its own.
pub fn rehearse() -> io::Result<()> {
    let text = || "rehearsal".to_owned();
    let specification = Specification {
        task_id: text(),
        argv: vec![text(); 4],
        env: vec![text(); 32],
        exec: ExecBy::Path(text()),
        timeout_ms: 1,
        kill_grace_ms: 1,
        stray_grace_ms: 1,
        max_output_bytes: 1,
        max_total_output_bytes: None,
        has_input: false,
        limits: Limits::default(),
        confinement: None,
    };
    let mut inbox = Inbox::default();
    inbox.push(&encode(&specification)?);
    inbox.take::<Specification>()?;
    encode(&Report::Started)?;
    let outcome = Box::new(Outcome::bare(Cause::Exit, text()));
    encode(&Report::Settled { outcome, stored: true })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch { version: "x".into(), overdue_ms: 7, sync: true, ahead: None }
    }

    #[test]
    fn a_command_arrives_with_its_descriptors() {
        let (own, theirs) = socket::pair().unwrap();
        let descriptors: Vec<OwnedFd> = (0..3).map(|_| tempfile::tempfile().unwrap().into()).collect();
        assert_eq!(Spare::new(42, own).employ(&launch(), &descriptors).unwrap(), 42);
        let (came, with) = wait(&theirs).unwrap().unwrap();
        assert_eq!((came.overdue_ms, came.sync, with.len()), (7, true, 3));
        assert!(wait(&theirs).unwrap().is_none());
    }

    #[test]
    fn one_that_is_gone_is_an_error_and_a_warden_that_is_gone_is_the_end() {
        let (own, theirs) = socket::pair().unwrap();
        drop(theirs);
        assert!(Spare::new(42, own).employ(&launch(), &[]).is_err());
        let (own, theirs) = socket::pair().unwrap();
        drop(own);
        assert!(wait(&theirs).unwrap().is_none());
    }

    #[test]
    fn a_rehearsal_succeeds() {
        rehearse().unwrap();
    }
}
