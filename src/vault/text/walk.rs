//! Walking over a stream by what its bytes decode to.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::decode::{self, Mark};

/// Bytes of one read.
const CHUNK: usize = 64 * 1024;

/// How many of `left` bytes to read at once.
pub(super) fn chunk(left: u64) -> usize {
    usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK))
}

/// Fills `buffer` from `position`. Streams only grow, so an end before that is an error.
pub(super) fn read_full(stream: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    stream.read_exact_at(buffer, position).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => shrunk(),
        _ => error,
    })
}

/// Something cut a stream short while it was read.
pub(super) fn shrunk() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the stream is shorter than it was")
}

/// A position in a stream, with the bytes around it in memory.
#[derive(Debug)]
pub(super) struct Walk<'s> {
    stream: &'s File,
    at: Mark,
    end: u64,
    window: Vec<u8>,
    used: usize,
}

impl<'s> Walk<'s> {
    /// From `from` to at most the byte `end`, where an unfinished character counts as its U+FFFD.
    pub(super) fn new(stream: &'s File, from: Mark, end: u64) -> Self {
        Self { stream, at: from, end, window: Vec::new(), used: 0 }
    }

    /// Where it stands.
    pub(super) fn at(&self) -> Mark {
        self.at
    }

    /// Whether nothing follows.
    pub(super) fn at_end(&self) -> bool {
        self.at.bytes >= self.end
    }

    /// Goes on as far as no field passes `bound`, and hands out the bytes, always whole characters.
    pub(super) fn run(&mut self, bound: &Mark, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        while !self.at_end() {
            let closed = self.fill()?;
            let view = &self.window[self.used..];
            let used = decode::advance(view, &mut self.at, bound, closed);
            if used == 0 {
                break;
            }
            take(&view[..used]);
            self.used += used;
        }
        Ok(())
    }

    /// Goes on to the next line feed, as far as that is no more than the mark `units`, and hands out the bytes.
    pub(super) fn run_in_line(&mut self, units: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        while !self.at_end() {
            let closed = self.fill()?;
            let view = &self.window[self.used..];
            let feed = memchr::memchr(b'\n', view);
            // What a line feed follows is finished.
            let (line, closed) = feed.map_or((view, closed), |feed| (&view[..feed], true));
            let used = decode::advance(line, &mut self.at, &Mark { units, ..Mark::UNBOUNDED }, closed);
            take(&line[..used]);
            self.used += used;
            if used == 0 || feed == Some(used) {
                break;
            }
        }
        Ok(())
    }

    /// Goes over one character, whatever it is, unless nothing follows.
    pub(super) fn step(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        if !self.at_end() {
            let closed = self.fill()?;
            let view = &self.window[self.used..];
            let used = decode::advance_one(view, &mut self.at, closed);
            take(&view[..used]);
            self.used += used;
        }
        Ok(())
    }

    /// Makes sure that the window holds a whole character, or all that is left, which it then says.
    fn fill(&mut self) -> io::Result<bool> {
        let mut ahead = self.window.len() - self.used;
        if ahead < decode::MAX_CHAR && self.at.bytes + (ahead as u64) < self.end {
            ahead = chunk(self.end.saturating_sub(self.at.bytes));
            self.window.resize(ahead, 0);
            self.used = 0;
            read_full(self.stream, &mut self.window, self.at.bytes)?;
        }
        Ok(self.at.bytes + ahead as u64 >= self.end)
    }
}
