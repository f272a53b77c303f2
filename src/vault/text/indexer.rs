//! Counting a stream while it is written, and the index file that the counts go to.
//!
//! The keeper does this for every chunk that it captures, so it allocates nothing and holds a few dozen bytes.
//!
//! # The file
//!
//! A header of 16 bytes, then records of 32, all numbers little-endian:
//!
//! | bytes | header | record |
//! |---|---|---|
//! | 0-7 | `argvidx` and the version, 1 | bytes before the entry |
//! | 8-15 | [`INDEX_STEP_BYTES`] | UTF-16 units before it |
//! | 16-23 | | line feeds before it |
//! | 24-31 | | a check over the three |
//!
//! The n-th record (from 1) is the first boundary at or after `n * INDEX_STEP_BYTES`, which is at most three bytes
//! later, so its place in the file follows from its position in the stream and the other way round. How the bytes came
//! in chunks changes nothing.
//!
//! The check finds what a crash or a failing disk leaves: torn, zeroed or flipped bytes. It is no seal: whoever can
//! write the file (its owner; it is 0600) can make offsets wrong. Then pages are pieces of the stream from the wrong
//! place, never anything but the stream's bytes decoded, and never a read beyond one step and one page.

use super::decode::{self, Mark};
use crate::limits::INDEX_STEP_BYTES;

/// Bytes of the file's header.
pub const HEADER_BYTES: usize = 16;
/// Bytes of one record.
pub const RECORD_BYTES: usize = 32;

/// What the file starts with. Another version or step makes another header, and the file is ignored.
pub fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(b"argvidx\x01");
    header[8..].copy_from_slice(&INDEX_STEP_BYTES.to_le_bytes());
    header
}

impl Mark {
    /// The record that stands for this entry.
    pub fn to_record(self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let words = [self.bytes, self.units, self.lines, self.check()];
        for (place, word) in record.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        record
    }

    /// The entry that `record` stands for, if its check holds.
    pub(super) fn from_record(record: &[u8; RECORD_BYTES]) -> Option<Self> {
        let (words, _) = record.as_chunks::<8>();
        let [bytes, units, lines, check] = [0, 1, 2, 3].map(|place| u64::from_le_bytes(words[place]));
        let mark = Self { bytes, units, lines };
        (mark.check() == check).then_some(mark)
    }

    /// Whether this can be the entry number `ordinal` (from 1) after `before`.
    pub(super) fn may_follow(self, before: Self, ordinal: u64) -> bool {
        let step = |field: fn(Self) -> u64| field(self).checked_sub(field(before));
        let (Some(bytes), Some(units), Some(lines)) =
            (step(|mark| mark.bytes), step(|mark| mark.units), step(|mark| mark.lines))
        else {
            return false;
        };
        self.bytes / INDEX_STEP_BYTES == ordinal
            && self.bytes % INDEX_STEP_BYTES < decode::MAX_CHAR as u64
            && units <= bytes
            && units >= bytes / 3
            && lines <= units
    }

    /// Mixes every bit of the three numbers; all zeros don't pass.
    fn check(self) -> u64 {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        [self.bytes, self.units, self.lines].iter().fold(0x6172_6776_6964_7831, |hash: u64, word| {
            let mixed = (hash ^ word).wrapping_mul(ODD);
            mixed ^ (mixed >> 32)
        })
    }
}

/// Counts a stream as its chunks come.
#[derive(Debug, Clone)]
pub struct Indexer {
    at: Mark,
    next_entry: u64,
    held: [u8; decode::MAX_CHAR],
    held_len: usize,
}

impl Default for Indexer {
    fn default() -> Self {
        Self::new()
    }
}

impl Indexer {
    /// At the start of a stream.
    pub fn new() -> Self {
        Self::resumed(Mark::default())
    }

    /// At an entry, to count what follows.
    pub(super) fn resumed(at: Mark) -> Self {
        let next_entry = (at.bytes / INDEX_STEP_BYTES + 1) * INDEX_STEP_BYTES;
        Self { at, next_entry, held: [0; decode::MAX_CHAR], held_len: 0 }
    }

    /// The counts so far, without an unfinished character at the end.
    pub fn at(&self) -> Mark {
        self.at
    }

    /// Bytes of the unfinished character at the end, 0 to 3.
    pub fn held(&self) -> u64 {
        self.held_len as u64
    }

    /// Bytes taken in so far.
    pub fn seen(&self) -> u64 {
        self.at.bytes + self.held()
    }

    /// Counts the bytes that follow, and hands out the entries that become known.
    pub fn push(&mut self, mut chunk: &[u8], mut entry: impl FnMut(Mark)) {
        if self.held_len > 0 {
            chunk = self.finish_held(chunk);
            self.note(&mut entry);
        }
        while !chunk.is_empty() {
            let bound = Mark { bytes: self.next_entry, ..Mark::UNBOUNDED };
            let mut used = decode::advance(chunk, &mut self.at, &bound, false);
            if self.at.bytes < self.next_entry {
                let over = decode::advance_one(&chunk[used..], &mut self.at, false);
                used += over;
                if over == 0 {
                    self.hold(&chunk[used..]);
                    return;
                }
            }
            self.note(&mut entry);
            chunk = &chunk[used..];
        }
    }

    /// Joins what was held with as much of `chunk` as finishes it; returns the rest.
    fn finish_held<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let taken = chunk.len().min(decode::MAX_CHAR - self.held_len);
        let joined = self.held_len + taken;
        self.held[self.held_len..joined].copy_from_slice(&chunk[..taken]);
        match decode::advance_one(&self.held[..joined], &mut self.at, false) {
            0 => {
                self.held_len = joined;
                &chunk[taken..]
            }
            // What is held is the start of a character: it ends with them at the earliest.
            used => &chunk[used - std::mem::take(&mut self.held_len)..],
        }
    }

    fn hold(&mut self, rest: &[u8]) {
        self.held[..rest.len()].copy_from_slice(rest);
        self.held_len = rest.len();
    }

    fn note(&mut self, entry: &mut impl FnMut(Mark)) {
        if self.at.bytes >= self.next_entry {
            entry(self.at);
            self.next_entry += INDEX_STEP_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_the_first_boundaries_at_or_after_each_step() {
        let step = usize::try_from(INDEX_STEP_BYTES).unwrap();
        let mut bytes = vec![b'x'; step - 1];
        bytes.extend_from_slice("😀\n".as_bytes());
        bytes.resize(2 * step, b'y');
        let mut entries = Vec::new();
        Indexer::new().push(&bytes, |entry| entries.push(entry));
        let first = Mark { bytes: INDEX_STEP_BYTES + 3, units: INDEX_STEP_BYTES + 1, lines: 0 };
        let second = Mark { bytes: 2 * INDEX_STEP_BYTES, units: 2 * INDEX_STEP_BYTES - 2, lines: 1 };
        assert_eq!(entries, [first, second]);

        for chunk in [1, 3, 7, 4096, step - 1, step + 1] {
            let mut indexer = Indexer::new();
            let mut again = Vec::new();
            bytes.chunks(chunk).for_each(|chunk| indexer.push(chunk, |entry| again.push(entry)));
            assert_eq!(again, entries, "in chunks of {chunk}");
            assert_eq!(indexer.seen(), bytes.len() as u64);
        }
    }

    #[test]
    fn a_record_reads_back_and_any_flipped_bit_is_found() {
        let mark = Mark { bytes: INDEX_STEP_BYTES + 2, units: 200_000, lines: 17 };
        let record = mark.to_record();
        assert_eq!(Mark::from_record(&record), Some(mark));
        for bit in 0..RECORD_BYTES * 8 {
            let mut flipped = record;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::from_record(&flipped), None, "bit {bit}");
        }
        assert_eq!(Mark::from_record(&[0; RECORD_BYTES]), None);
    }

    #[test]
    fn the_keeper_pays_a_few_dozen_bytes() {
        assert!(size_of::<Indexer>() <= 64);
    }
}
