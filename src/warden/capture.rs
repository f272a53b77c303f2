//! From the program's pipes to the vault's files: bytes as bytes, an exact cap, nothing in memory.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::limits::CAPTURE_CHUNK;
use crate::os::file::readable_bytes;
use crate::vault::layout;
use crate::vault::record::Cause;
use crate::vault::text::{Indexer, Mark};

/// How many chunks one wake-up takes from a pipe before others have their turn.
const CHUNKS_PER_TURN: usize = 4;

/// One of the two output streams.
#[derive(Debug)]
struct Stream {
    name: &'static str,
    /// Until its end has been read.
    pipe: Option<File>,
    file: File,
    kept: u64,
    /// The file can't be written, or the cap is reached: what still comes is read and dropped, so that the program
    /// is not hit by SIGPIPE before it is asked to end.
    discarding: bool,
    index: Index,
}

/// The stream's index, written while its bytes are at hand; a short stream needs none and gets no file.
#[derive(Debug)]
struct Index {
    folder: Option<OwnedFd>,
    name: String,
    counts: Indexer,
    file: Option<File>,
}

impl Index {
    fn new(folder: Option<OwnedFd>, stream: &str) -> Self {
        Self { folder, name: layout::index_name(stream), counts: Indexer::new(), file: None }
    }

    /// Counts bytes that are in the stream by now. An index that can't be written is given up: readers count what it
    /// lacks.
    fn push(&mut self, bytes: &[u8]) {
        let Self { folder, name, counts, file } = self;
        let Some(directory) = folder else { return };
        let mut failed = false;
        counts.push(bytes, |mark| {
            failed = failed || write_entry(directory, name, file, mark).is_err();
        });
        if failed {
            *folder = None;
        }
    }
}

fn write_entry(folder: &OwnedFd, name: &str, file: &mut Option<File>, mark: Mark) -> io::Result<()> {
    let file = if let Some(file) = file { file } else { file.insert(layout::create_index(folder, name)?) };
    file.write_all(&mark.to_record())
}

/// Both streams and what bounds them.
#[derive(Debug)]
pub struct Capture {
    streams: [Stream; 2],
    cap: u64,
    total_cap: u64,
    buffer: Vec<u8>,
}

/// Something that ends the command.
#[derive(Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it counts as.
    pub cause: Cause,
    /// What to tell.
    pub error: String,
}

impl Capture {
    /// Captures from the read ends `pipes`, which are non-blocking, into `files`, their indexes into `folder`.
    pub fn new(
        pipes: [OwnedFd; 2],
        files: [File; 2],
        folder: &OwnedFd,
        cap: u64,
        total_cap: Option<u64>,
    ) -> Self {
        let [stdout_pipe, stderr_pipe] = pipes.map(File::from);
        let [stdout, stderr] = files;
        let stream = |name, pipe, file| {
            let index = Index::new(folder.try_clone().ok(), name);
            Stream { name, pipe: Some(pipe), file, kept: 0, discarding: false, index }
        };
        Self {
            streams: [
                stream(layout::STDOUT, stdout_pipe, stdout),
                stream(layout::STDERR, stderr_pipe, stderr),
            ],
            cap,
            total_cap: total_cap.unwrap_or(u64::MAX),
            buffer: vec![0; CAPTURE_CHUNK],
        }
    }

    /// What to wait on: the pipe of stream 0 or 1 while it is open.
    pub fn pipe(&self, index: usize) -> Option<BorrowedFd<'_>> {
        self.streams[index].pipe.as_ref().map(AsFd::as_fd)
    }

    /// Whether anybody may still write.
    pub fn is_open(&self) -> bool {
        self.streams.iter().any(|stream| stream.pipe.is_some())
    }

    /// Bytes kept of stream 0 or 1.
    pub fn kept(&self, index: usize) -> u64 {
        self.streams[index].kept
    }

    /// Takes what stream `index` has, a few chunks at most.
    pub fn pump(&mut self, index: usize) -> Option<Trouble> {
        let mut first_trouble = None;
        for _ in 0..CHUNKS_PER_TURN {
            match self.read_once(index, CAPTURE_CHUNK) {
                Turn::Read { full, trouble } => {
                    first_trouble = first_trouble.or(trouble);
                    if !full {
                        break;
                    }
                }
                Turn::Nothing => break,
            }
        }
        first_trouble
    }

    /// Takes what the pipes hold now, without waiting for more: a process outside the tree may hold a write end and
    /// never close it. Says whether anybody does.
    pub fn drain(&mut self) -> (bool, Option<Trouble>) {
        let mut first_trouble = None;
        for index in 0..self.streams.len() {
            let Some(pipe) = &self.streams[index].pipe else { continue };
            let mut left = readable_bytes(pipe).unwrap_or(0);
            while left > 0 {
                let before = left;
                let chunk = left.min(CAPTURE_CHUNK);
                match self.read_once(index, chunk) {
                    Turn::Read { trouble, .. } => first_trouble = first_trouble.or(trouble),
                    Turn::Nothing => break,
                }
                left = before - chunk;
            }
            // One more read tells an end from a pipe that is merely empty.
            if let Turn::Read { trouble, .. } = self.read_once(index, 1) {
                first_trouble = first_trouble.or(trouble);
            }
        }
        (self.is_open(), first_trouble)
    }

    fn read_once(&mut self, index: usize, most: usize) -> Turn {
        let stream = &mut self.streams[index];
        let Some(pipe) = &mut stream.pipe else { return Turn::Nothing };
        let count = match pipe.read(&mut self.buffer[..most]) {
            Ok(0) => {
                stream.pipe = None;
                return Turn::Nothing;
            }
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Nothing,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                return Turn::Read { full: true, trouble: None };
            }
            Err(error) => {
                let error = format!("{} could not be read: {error}", stream.name);
                stream.pipe = None;
                return Turn::Read { full: false, trouble: Some(Trouble { cause: Cause::Storage, error }) };
            }
        };
        Turn::Read { full: count == most, trouble: self.keep(index, count) }
    }

    /// Writes the first `count` bytes of the buffer, as far as the caps allow.
    fn keep(&mut self, index: usize, count: usize) -> Option<Trouble> {
        let total: u64 = self.streams.iter().map(|stream| stream.kept).sum();
        let stream = &mut self.streams[index];
        if stream.discarding {
            return None;
        }
        let own_room = self.cap - stream.kept;
        let total_room = self.total_cap.saturating_sub(total);
        let room = usize::try_from(own_room.min(total_room)).unwrap_or(usize::MAX);
        let mut rest = &self.buffer[..count.min(room)];
        while !rest.is_empty() {
            match stream.file.write(rest) {
                Ok(written) => {
                    stream.kept += written as u64;
                    stream.index.push(&rest[..written]);
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    stream.discarding = true;
                    let error = format!("{} could not be written to the vault: {error}", stream.name);
                    return Some(Trouble { cause: Cause::Storage, error });
                }
            }
        }
        if count <= room {
            return None;
        }
        stream.discarding = true;
        Some(if own_room <= total_room {
            let error = format!("{} exceeded its limit of {} bytes", stream.name, self.cap);
            Trouble { cause: Cause::OutputLimit, error }
        } else {
            let error = format!("stdout and stderr exceeded their common limit of {} bytes", self.total_cap);
            Trouble { cause: Cause::TotalOutputLimit, error }
        })
    }

    /// Writes through to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.streams.iter().try_for_each(|stream| stream.file.sync_data())
    }
}

/// What one read brought.
enum Turn {
    /// Bytes; `full` when there may be more at once.
    Read { full: bool, trouble: Option<Trouble> },
    /// Nothing now, or the end.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek as _;

    struct Rig {
        folder: tempfile::TempDir,
        capture: Capture,
        writers: [Option<File>; 2],
        files: [File; 2],
    }

    fn rig(cap: u64, total_cap: Option<u64>) -> Rig {
        let pipe = || nix::unistd::pipe2(nix::fcntl::OFlag::O_NONBLOCK).unwrap();
        let ((out_read, out_write), (err_read, err_write)) = (pipe(), pipe());
        let files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
        let copies = [files[0].try_clone().unwrap(), files[1].try_clone().unwrap()];
        let folder = tempfile::tempdir().unwrap();
        let handle = File::open(folder.path()).unwrap().into();
        Rig {
            capture: Capture::new([out_read, err_read], files, &handle, cap, total_cap),
            folder,
            writers: [Some(out_write.into()), Some(err_write.into())],
            files: copies,
        }
    }

    impl Rig {
        fn write(&mut self, index: usize, bytes: &[u8]) {
            self.writers[index].as_mut().unwrap().write_all(bytes).unwrap();
        }

        fn file(&mut self, index: usize) -> Vec<u8> {
            self.files[index].rewind().unwrap();
            let mut bytes = Vec::new();
            self.files[index].read_to_end(&mut bytes).unwrap();
            bytes
        }
    }

    #[test]
    fn the_cap_is_exact_and_filling_it_is_no_overflow() {
        for (written, kept, overflows) in [(9, 9, false), (10, 10, false), (11, 10, true), (100, 10, true)] {
            let mut rig = rig(10, None);
            rig.write(0, &vec![b'x'; written]);
            let trouble = rig.capture.pump(0);
            assert_eq!(trouble.is_some(), overflows, "{written}");
            assert_eq!((rig.file(0).len(), rig.capture.kept(0)), (kept, kept as u64), "{written}");
            if let Some(trouble) = trouble {
                assert_eq!(trouble.cause, Cause::OutputLimit);
            }
        }
    }

    #[test]
    fn the_total_cap_counts_both_streams_and_is_named_as_such() {
        let mut rig = rig(10, Some(12));
        rig.write(0, b"12345678");
        rig.write(1, b"12345");
        assert_eq!(rig.capture.pump(0), None);
        assert_eq!(rig.capture.pump(1).unwrap().cause, Cause::TotalOutputLimit);
        assert_eq!((rig.file(0).len(), rig.file(1).len()), (8, 4));
    }

    #[test]
    fn what_comes_after_an_overflow_is_read_and_dropped() {
        let mut rig = rig(3, None);
        rig.write(0, b"12345");
        assert!(rig.capture.pump(0).is_some());
        rig.write(0, b"678");
        assert_eq!(rig.capture.pump(0), None);
        assert_eq!(rig.file(0), b"123");
    }

    #[test]
    fn a_drain_takes_what_is_there_and_tells_a_held_pipe_from_a_closed_one() {
        let mut rig = rig(1 << 20, None);
        rig.write(0, &vec![b'x'; 60_000]);
        rig.write(1, b"err");
        rig.writers[1] = None;
        assert_eq!(rig.capture.drain(), (true, None));
        assert_eq!((rig.file(0).len(), rig.file(1)), (60_000, b"err".to_vec()));
        rig.writers[0] = None;
        assert_eq!(rig.capture.drain(), (false, None));
    }

    #[test]
    fn a_long_stream_gets_an_index_and_a_short_one_no_file() {
        use crate::limits::INDEX_STEP_BYTES;
        use crate::vault::text::{RECORD_BYTES, TextIndex};
        let mut rig = rig(1 << 30, None);
        rig.write(1, b"short");
        assert_eq!(rig.capture.pump(1), None);
        for _ in 0..40 {
            rig.write(0, &vec![b'x'; 32 * 1024]);
            assert_eq!(rig.capture.pump(0), None);
        }
        let index = File::open(rig.folder.path().join(layout::index_name("stdout"))).unwrap();
        let records = 40 * 32 * 1024 / INDEX_STEP_BYTES;
        let header = crate::vault::text::header().len() as u64;
        assert_eq!(index.metadata().unwrap().len(), header + records * RECORD_BYTES as u64);
        assert_ne!(
            format!("{:?}", TextIndex::load(&index, &rig.files[0])),
            format!("{:?}", TextIndex::new())
        );
        assert!(!rig.folder.path().join(layout::index_name("stderr")).exists());
    }

    #[test]
    fn a_full_disk_is_named_and_what_was_written_counts() {
        let mut rig = rig(100, None);
        rig.capture.streams[0].file = File::options().write(true).open("/dev/full").unwrap();
        rig.write(0, b"lost");
        let trouble = rig.capture.pump(0).unwrap();
        assert_eq!(trouble.cause, Cause::Storage);
        assert!(trouble.error.contains("No space left"), "{}", trouble.error);
        assert_eq!(rig.capture.kept(0), 0);
    }
}
