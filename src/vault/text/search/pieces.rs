//! Hands a stream to the search engine with line feeds put into lines that are too long to hold.
//!
//! The engine holds whole lines, and a stream may be a gigabyte without a line feed.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use super::super::decode::{self, MAX_CHAR};
use super::super::walk;
use crate::limits::SEARCH_PIECE_BYTES;

/// Where line feeds were put in, for the way back from the engine's positions to the stream's.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Stream positions before which there is one, ascending: 8 bytes for each piece of a long line.
    places: Vec<u64>,
    /// How many lie before the engine's position that was asked for last.
    passed: usize,
    /// Whether the stream was not read to its end because the time was up.
    pub out_of_time: bool,
}

impl Cuts {
    /// How many lie before the engine's `position`, asked for in ascending order.
    pub(super) fn before(&mut self, position: u64) -> u64 {
        while self.places.get(self.passed).is_some_and(|place| place + (self.passed as u64) < position) {
            self.passed += 1;
        }
        self.passed as u64
    }
}

/// The reader.
#[derive(Debug)]
pub(super) struct Pieces<'s> {
    stream: &'s File,
    position: u64,
    end: u64,
    /// Where the current piece has to end if no line feed comes first.
    piece_end: u64,
    deadline: Instant,
    cuts: &'s RefCell<Cuts>,
}

impl<'s> Pieces<'s> {
    pub(super) fn new(stream: &'s File, end: u64, deadline: Instant, cuts: &'s RefCell<Cuts>) -> Self {
        Self { stream, position: 0, end, piece_end: SEARCH_PIECE_BYTES, deadline, cuts }
    }

    /// Whether the piece ends here; else it goes on for the few bytes that it takes to end well.
    fn cut_here(&mut self) -> io::Result<bool> {
        let context = self.position.min(MAX_CHAR as u64 - 1);
        let from = self.position - context;
        let mut around = [0; 2 * MAX_CHAR - 1];
        let size = around.len().min(walk::chunk(self.end - from));
        let around = &mut around[..size];
        walk::read_full(self.stream, around, from)?;
        let here = walk::chunk(context);
        // The line ends here by itself: a cut would make an empty piece.
        let more = if around[here] == b'\n' { 1 } else { decode::boundary_from(around, here) - here };
        self.piece_end += more as u64;
        Ok(more == 0)
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.end || buffer.is_empty() {
            return Ok(0);
        }
        if Instant::now() >= self.deadline {
            self.cuts.borrow_mut().out_of_time = true;
            return Ok(0);
        }
        if self.position == self.piece_end && self.cut_here()? {
            self.cuts.borrow_mut().places.push(self.position);
            self.piece_end = self.position + SEARCH_PIECE_BYTES;
            buffer[0] = b'\n';
            return Ok(1);
        }
        let left = self.end.min(self.piece_end) - self.position;
        let size = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.stream.read_at(&mut buffer[..size], self.position)?;
        if read == 0 {
            return Err(walk::shrunk());
        }
        if let Some(feed) = memchr::memrchr(b'\n', &buffer[..read]) {
            self.piece_end = self.position + feed as u64 + 1 + SEARCH_PIECE_BYTES;
        }
        self.position += read as u64;
        Ok(read)
    }
}
