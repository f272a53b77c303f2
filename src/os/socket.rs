//! Local stream sockets that carry descriptors (`unix(7)`).

use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg,
    socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Most descriptors in one message here; the kernel's own ceiling is 253 (`SCM_MAX_FD`, `unix(7)`).
pub const MAX_DESCRIPTORS: usize = 8;

/// Two connected stream sockets, both close-on-exec.
pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
    let (a, b) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
    Ok((UnixStream::from(a), UnixStream::from(b)))
}

/// Sends the beginning of `bytes` with `descriptors` on its first byte, without waiting and without SIGPIPE.
/// Says how many bytes went; the descriptors went with the first of them.
pub fn send(socket: &impl AsRawFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let raw: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let control = [ControlMessage::ScmRights(&raw)];
    let control: &[ControlMessage<'_>] = if raw.is_empty() { &[] } else { &control };
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    loop {
        match sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(bytes)], control, flags, None) {
            Err(nix::errno::Errno::EINTR) => {}
            sent => return Ok(sent?),
        }
    }
}

/// What one receive brought.
#[derive(Debug)]
pub struct Received {
    /// Bytes at the beginning of the buffer; 0 is the end of the stream.
    pub bytes: usize,
    /// Descriptors, close-on-exec.
    pub descriptors: Vec<OwnedFd>,
    /// Descriptors were lost: too many for the buffer, or for this process (`MSG_CTRUNC`, `recvmsg(2)`).
    pub descriptors_lost: bool,
}

/// Receives what is there into `buffer`, with any descriptors. `wait` says whether to wait for the first byte.
pub fn receive(socket: &impl AsRawFd, buffer: &mut [u8], wait: bool) -> io::Result<Received> {
    let mut control = nix::cmsg_space!([RawFd; MAX_DESCRIPTORS]);
    let mut flags = MsgFlags::MSG_CMSG_CLOEXEC;
    if !wait {
        flags |= MsgFlags::MSG_DONTWAIT;
    }
    let mut slices = [IoSliceMut::new(buffer)];
    let message = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut control), flags) {
            Err(nix::errno::Errno::EINTR) => {}
            received => break received?,
        }
    };
    let (bytes, descriptors_lost) = (message.bytes, message.flags.contains(MsgFlags::MSG_CTRUNC));
    let installed = match message.cmsgs() {
        Ok(list) => list
            .flat_map(|entry| match entry {
                ControlMessageOwned::ScmRights(raw) => raw,
                _ => Vec::new(),
            })
            .collect(),
        // nix refuses a list that was cut short, though the kernel has installed those that it names.
        Err(_) => cut_short(&control),
    };
    let own = |fd| {
        // SAFETY: the kernel has just installed `fd` in this process for this message; nobody else knows of it.
        #[expect(unsafe_code, reason = "taking ownership of a received descriptor")]
        unsafe {
            OwnedFd::from_raw_fd(fd)
        }
    };
    Ok(Received { bytes, descriptors: installed.into_iter().map(own).collect(), descriptors_lost })
}

/// The descriptors in a control buffer, zeroed before, whose list was cut short: a `cmsghdr` as the kernel writes it
/// (a `size_t` with the length, level, type; `cmsg(3)`) and as many of them as there was room for.
fn cut_short(control: &[u8]) -> Vec<RawFd> {
    let Some((length, rest)) = control.split_first_chunk::<{ size_of::<usize>() }>() else {
        return Vec::new();
    };
    let header = control.len() - rest.len() + 2 * size_of::<RawFd>();
    let numbers = |from: usize, to: usize| {
        let bytes = control.get(from..to).unwrap_or_default();
        bytes.as_chunks().0.iter().map(|number| RawFd::from_ne_bytes(*number)).collect::<Vec<_>>()
    };
    if numbers(size_of::<usize>(), header) != [libc::SOL_SOCKET, libc::SCM_RIGHTS] {
        return Vec::new();
    }
    numbers(header, usize::from_ne_bytes(*length).min(control.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsFd as _;

    #[test]
    fn descriptors_arrive_with_the_first_byte() {
        let (a, b) = pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"kept").unwrap();
        assert_eq!(send(&a, b"xy", &[file.as_fd()]).unwrap(), 2);
        let mut buffer = [0; 16];
        let mut received = receive(&b, &mut buffer, true).unwrap();
        assert_eq!((received.bytes, received.descriptors.len(), received.descriptors_lost), (2, 1, false));
        let mut same = std::fs::File::from(received.descriptors.remove(0));
        same.rewind().unwrap();
        let mut text = String::new();
        same.read_to_string(&mut text).unwrap();
        assert_eq!(text, "kept");
    }

    #[test]
    fn descriptors_that_came_before_the_room_ended_are_owned_and_closed() {
        let (a, b) = pair().unwrap();
        // Of a file of its own, so that other tests' descriptors don't count.
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        let open_here = || {
            let fds = std::fs::read_dir("/proc/self/fd").unwrap();
            fds.filter(|fd| std::fs::read_link(fd.as_ref().unwrap().path()).is_ok_and(|to| to == path))
                .count()
        };
        let too_many = [file.as_fd(); MAX_DESCRIPTORS + 1];
        send(&a, b"x", &too_many).unwrap();
        let received = receive(&b, &mut [0; 4], true).unwrap();
        assert!(received.descriptors_lost);
        assert_eq!((received.descriptors.len(), open_here()), (MAX_DESCRIPTORS, 1 + MAX_DESCRIPTORS));
        drop(received);
        assert_eq!(open_here(), 1);
    }

    #[test]
    fn a_closed_end_reads_as_the_end() {
        let (a, b) = pair().unwrap();
        drop(a);
        assert_eq!(receive(&b, &mut [0; 4], true).unwrap().bytes, 0);
        assert_eq!(send(&b, b"x", &[]).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
