//! Local stream sockets that carry descriptors (`unix(7)`).

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use std::ffi::{c_int, c_uint, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Most descriptors in one message here; the kernel's own ceiling is 253 (`SCM_MAX_FD`, `unix(7)`).
pub const MAX_DESCRIPTORS: usize = 8;

/// Two connected stream sockets, both close-on-exec.
pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
    let (a, b) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
    Ok((UnixStream::from(a), UnixStream::from(b)))
}

/// A control message with descriptors, as the kernel lays it out (`struct cmsghdr` of `linux/socket.h`, then the data at a
/// multiple of a pointer's size): C libraries differ in the types of its fields.
#[repr(C)]
struct Control<const ROOM: usize> {
    length: usize,
    level: c_int,
    kind: c_int,
    descriptors: [RawFd; ROOM],
}

impl<const ROOM: usize> Control<ROOM> {
    fn empty() -> Self {
        Self { length: 0, level: 0, kind: 0, descriptors: [0; ROOM] }
    }
}

const HEADER_BYTES: usize = size_of::<Control<0>>();
const _: () = assert!(HEADER_BYTES.is_multiple_of(size_of::<usize>()));

/// `struct user_msghdr` of `linux/socket.h`.
#[repr(C)]
struct Message {
    name: *mut c_void,
    name_length: c_int,
    slices: *mut libc::iovec,
    slice_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_uint,
}

/// `sendmsg(2)` or `recvmsg(2)`, by its number, with one slice of bytes and the first `control_length` bytes of `control`.
/// Gives how many bytes there were, and the message's flags.
///
/// # Safety
/// `bytes` is valid for `length` bytes: for reads where `call` sends, for writes where it receives.
#[expect(unsafe_code, reason = "nix gives the kernel a control buffer without alignment")]
unsafe fn exchange<const ROOM: usize>(
    call: libc::c_long,
    socket: RawFd,
    (bytes, length): (*mut u8, usize),
    (control, control_length): (&mut Control<ROOM>, usize),
    flags: c_int,
) -> io::Result<(usize, c_uint)> {
    let mut slice = libc::iovec { iov_base: bytes.cast(), iov_len: length };
    let mut message = Message {
        name: std::ptr::null_mut(),
        name_length: 0,
        slices: &raw mut slice,
        slice_count: 1,
        control: std::ptr::from_mut(control).cast(),
        control_length,
        flags: 0,
    };
    debug_assert!(control_length <= size_of_val(control), "less than there is");
    loop {
        // SAFETY: the message, its slice and its control buffer are alive for the call and as long as they say, the
        // bytes by this function's own condition.
        let done = unsafe { libc::syscall(call, socket, &raw mut message, flags) };
        match Errno::result(done) {
            Ok(done) => return Ok((usize::try_from(done).unwrap_or(0), message.flags)),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Sends the beginning of `bytes` with `descriptors`, at most [`MAX_DESCRIPTORS`], on its first byte, without waiting and
/// without SIGPIPE. Says how many bytes went; the descriptors went with the first of them.
pub fn send(socket: &impl AsRawFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut control = Control::<MAX_DESCRIPTORS>::empty();
    let Some(numbers) = control.descriptors.get_mut(..descriptors.len()) else {
        return Err(Errno::E2BIG.into());
    };
    for (number, descriptor) in numbers.iter_mut().zip(descriptors) {
        *number = descriptor.as_raw_fd();
    }
    let length =
        if descriptors.is_empty() { 0 } else { HEADER_BYTES + descriptors.len() * size_of::<RawFd>() };
    (control.length, control.level, control.kind) = (length, libc::SOL_SOCKET, libc::SCM_RIGHTS);
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let slice = (bytes.as_ptr().cast_mut(), bytes.len());
    // SAFETY: `bytes` is a slice, and sendmsg(2) reads it.
    #[expect(unsafe_code, reason = "see `exchange`")]
    let sent =
        unsafe { exchange(libc::SYS_sendmsg, socket.as_raw_fd(), slice, (&mut control, length), flags) };
    sent.map(|(bytes, _)| bytes)
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
    let mut control = Control::<MAX_DESCRIPTORS>::empty();
    let flags = libc::MSG_CMSG_CLOEXEC | if wait { 0 } else { libc::MSG_DONTWAIT };
    let slice = (buffer.as_mut_ptr(), buffer.len());
    let room = size_of_val(&control);
    // SAFETY: `buffer` is a slice that may be written.
    #[expect(unsafe_code, reason = "see `exchange`")]
    let (bytes, flags) =
        unsafe { exchange(libc::SYS_recvmsg, socket.as_raw_fd(), slice, (&mut control, room), flags)? };
    // Where there was no room for all, the kernel has installed as many as the length says.
    let count = match (control.level, control.kind) {
        (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
            control.length.saturating_sub(HEADER_BYTES) / size_of::<RawFd>()
        }
        _ => 0,
    };
    let own = |fd: &RawFd| {
        // SAFETY: the kernel has just installed `fd` in this process for this message; nobody else knows of it.
        #[expect(unsafe_code, reason = "taking ownership of a received descriptor")]
        unsafe {
            OwnedFd::from_raw_fd(*fd)
        }
    };
    Ok(Received {
        bytes,
        descriptors: control.descriptors.iter().take(count).map(own).collect(),
        descriptors_lost: flags & libc::MSG_CTRUNC.cast_unsigned() != 0,
    })
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
        assert_eq!(send(&a, b"x", &too_many).unwrap_err().raw_os_error(), Some(libc::E2BIG));
        // Another sender may do it.
        let mut control = Control::<{ MAX_DESCRIPTORS + 1 }>::empty();
        control.descriptors = too_many.map(|fd| fd.as_raw_fd());
        control.length = HEADER_BYTES + size_of_val(&control.descriptors);
        (control.level, control.kind) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
        let (length, byte) = (control.length, b"x".as_ptr().cast_mut());
        // SAFETY: one byte of a constant, to be read.
        #[expect(unsafe_code, reason = "see `exchange`")]
        unsafe {
            exchange(libc::SYS_sendmsg, a.as_raw_fd(), (byte, 1), (&mut control, length), 0).unwrap();
        }
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
