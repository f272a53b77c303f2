//! The reader's side of a stream's index: what the keeper counted, and what was written since.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::decode::Mark;
use super::indexer::{self, Indexer};
use super::walk::{self, Walk};
use crate::limits::INDEX_STEP_BYTES;

/// Whether a stream may still grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// It may: an unfinished character at its end is held back until it is known.
    Growing,
    /// It won't: an unfinished character at its end is U+FFFD.
    Final,
}

/// How far a stream can be read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub bytes: u64,
    pub units: u64,
    pub lines: u64,
}

/// Entries of one stream, about every [`INDEX_STEP_BYTES`] bytes, 24 bytes of memory each.
///
/// It belongs to one stream, which only ever grows.
#[derive(Debug, Clone, Default)]
pub struct TextIndex {
    entries: Vec<Mark>,
    tip: Indexer,
}

impl TextIndex {
    /// Knows nothing yet: the first use counts the stream from its start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what the index file `stored` holds for `stream`: the records up to the first that is torn, fails its
    /// check or can't be true of a stream this long. Nothing about the file is an error; what it doesn't tell is counted.
    pub fn load(stored: &File, stream: &File) -> Self {
        let entries = read_entries(stored, stream).unwrap_or_default();
        let tip = entries.last().map_or_else(Indexer::new, |last| Indexer::resumed(*last));
        Self { entries, tip }
    }

    /// Counts what was written since, and says how far the stream can be read.
    pub(super) fn extent(&mut self, stream: &File, tail: Tail) -> io::Result<Extent> {
        let len = stream.metadata()?.len();
        if len < self.tip.seen() {
            return Err(walk::shrunk());
        }
        self.extend(stream, len)?;
        let at = self.tip.at();
        let cut = match tail {
            Tail::Growing => 0,
            Tail::Final => self.tip.held(),
        };
        Ok(Extent { bytes: at.bytes + cut, units: at.units + u64::from(cut > 0), lines: at.lines })
    }

    /// The mark at the byte `position`, which is a boundary; `hint` is any earlier mark, such as the one asked for last.
    /// Costs at most one step. Its line feeds are not counted.
    pub(super) fn mark_at(&mut self, stream: &File, position: u64, hint: Mark) -> io::Result<Mark> {
        self.extend(stream, position)?;
        let entry = self.entry_before(|entry| entry.bytes <= position);
        if self.is_single(entry) {
            return Ok(Mark { bytes: position, units: entry.units + (position - entry.bytes), ..entry });
        }
        let from = if hint.bytes <= position && hint.bytes > entry.bytes { hint } else { entry };
        let mut walk = Walk::new(stream, from, position);
        walk.run(&Mark { bytes: position, ..Mark::UNBOUNDED }, |_| {})?;
        Ok(walk.at())
    }

    /// A mark at most one step before `offset`, which lies within the extent. Its line feeds are not counted.
    pub(super) fn near_units(&self, offset: u64) -> Mark {
        let entry = self.entry_before(|entry| entry.units <= offset);
        if self.is_single(entry) && offset <= self.after(entry).units {
            return Mark { bytes: entry.bytes + (offset - entry.units), units: offset, ..entry };
        }
        entry
    }

    /// Whether each character from `entry` to the next is one byte, so that nothing has to be read to find one of them.
    fn is_single(&self, entry: Mark) -> bool {
        let next = self.after(entry);
        next.bytes - entry.bytes == next.units - entry.units
    }

    /// The entry after `entry`, or how far the stream is counted.
    fn after(&self, entry: Mark) -> Mark {
        let next = self.entries.partition_point(|other| other.bytes <= entry.bytes);
        self.entries.get(next).copied().unwrap_or(self.tip.at())
    }

    /// The last entry for which `holds`, which is true of none after one for which it is false; else the start.
    pub(super) fn entry_before(&self, holds: impl Fn(&Mark) -> bool) -> Mark {
        match self.entries.partition_point(holds) {
            0 => Mark::default(),
            found => self.entries[found - 1],
        }
    }

    fn extend(&mut self, stream: &File, to: u64) -> io::Result<()> {
        let mut position = self.tip.seen();
        if position >= to {
            return Ok(());
        }
        let mut buffer = vec![0; walk::chunk(to - position)];
        while position < to {
            let size = walk::chunk(to - position);
            walk::read_full(stream, &mut buffer[..size], position)?;
            self.tip.push(&buffer[..size], |entry| self.entries.push(entry));
            position += size as u64;
        }
        Ok(())
    }
}

fn read_entries(stored: &File, stream: &File) -> io::Result<Vec<Mark>> {
    // The stream's length first: the keeper writes bytes, then their entries. It bounds what is read, whatever the
    // file's own size.
    let len = stream.metadata()?.len();
    let mut header = [0; indexer::HEADER_BYTES];
    stored.read_exact_at(&mut header, 0)?;
    if header != indexer::header() {
        return Ok(Vec::new());
    }
    let stored_bytes = stored.metadata()?.len().saturating_sub(indexer::HEADER_BYTES as u64);
    let most = (stored_bytes / indexer::RECORD_BYTES as u64).min(len / INDEX_STEP_BYTES);
    let mut entries = Vec::new();
    let mut before = Mark::default();
    let mut records = [[0; indexer::RECORD_BYTES]; 256];
    let mut ordinal = 0;
    while ordinal < most {
        let position = indexer::HEADER_BYTES as u64 + ordinal * indexer::RECORD_BYTES as u64;
        let size = usize::try_from(most - ordinal).map_or(records.len(), |left| left.min(records.len()));
        stored.read_exact_at(records[..size].as_flattened_mut(), position)?;
        for record in &records[..size] {
            ordinal += 1;
            match Mark::from_record(record) {
                Some(entry) if entry.bytes <= len && entry.may_follow(before, ordinal) => {
                    entries.push(entry);
                    before = entry;
                }
                _ => return Ok(entries),
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn text() -> Vec<u8> {
        "zażółć 😀 gęślą\n".repeat(60_000).into_bytes()
    }

    fn stored(stream: &[u8]) -> Vec<u8> {
        let mut stored = indexer::header().to_vec();
        Indexer::new().push(stream, |entry| stored.extend_from_slice(&entry.to_record()));
        stored
    }

    #[test]
    fn a_stored_index_spares_the_counting() {
        let bytes = text();
        let stream = file(&bytes);
        let mut loaded = TextIndex::load(&file(&stored(&bytes)), &stream);
        assert_eq!(loaded.entries.len() as u64, bytes.len() as u64 / INDEX_STEP_BYTES);
        let mut counted = TextIndex::new();
        assert_eq!(
            loaded.extent(&stream, Tail::Final).unwrap(),
            counted.extent(&stream, Tail::Final).unwrap()
        );
        assert_eq!(loaded.entries, counted.entries);
    }

    #[test]
    fn records_that_cannot_be_true_are_ignored_with_all_that_follow() {
        let bytes = text();
        let good = stored(&bytes);
        let record = |n: usize| indexer::HEADER_BYTES + (n - 1) * indexer::RECORD_BYTES;
        let entries =
            |index: &[u8], stream: &[u8]| TextIndex::load(&file(index), &file(stream)).entries.len();
        let all = entries(&good, &bytes);
        assert!(all >= 4);

        assert_eq!(entries(&good[..good.len() - 1], &bytes), all - 1, "a torn last record");
        assert_eq!(entries(&good, &bytes[..bytes.len() / 2]), all / 2, "a stream cut short");
        assert_eq!(entries(&[], &bytes), 0);
        assert_eq!(entries(&[0; 4096], &bytes), 0);

        let mut other_version = good.clone();
        other_version[7] = 2;
        assert_eq!(entries(&other_version, &bytes), 0);

        let mut flipped = good.clone();
        flipped[record(3) + 9] ^= 1;
        assert_eq!(entries(&flipped, &bytes), 2);

        let mut swapped = good.clone();
        swapped.copy_within(record(3)..record(4), record(2));
        assert_eq!(entries(&swapped, &bytes), 1, "a record in another's place");

        let mut impossible = good.clone();
        let lie = Mark { bytes: INDEX_STEP_BYTES, units: 5, lines: 0 }.to_record();
        impossible[record(1)..record(2)].copy_from_slice(&lie);
        assert_eq!(entries(&impossible, &bytes), 0);
    }

    #[test]
    fn a_stream_that_shrank_is_an_error() {
        let stream = file(b"0123456789");
        let mut index = TextIndex::new();
        index.extent(&stream, Tail::Growing).unwrap();
        stream.set_len(4).unwrap();
        assert_eq!(index.extent(&stream, Tail::Growing).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
