//! Text pages: any part of a stream, by UTF-16 offset, at the cost of the page.

use std::fs::File;
use std::io;

use serde::Serialize;

use super::decode::{self, Mark};
use super::index::{Tail, TextIndex};
use super::walk::Walk;
use crate::limits::{DEFAULT_PAGE_UNITS, MAX_PAGE_UNITS};

/// Which part of a stream a caller asks for, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Where the page starts.
    pub offset: u64,
    /// How long it may be.
    pub limit: u64,
}

impl PageRequest {
    /// What a caller's integers mean: an offset below 0 is 0, a limit is moved into 1…[`MAX_PAGE_UNITS`].
    pub fn clamped(offset: Option<i64>, limit: Option<i64>) -> Self {
        Self {
            offset: offset.map_or(0, |offset| u64::try_from(offset).unwrap_or(0)),
            limit: limit.map_or(DEFAULT_PAGE_UNITS, |limit| {
                u64::try_from(limit).unwrap_or(1).clamp(1, MAX_PAGE_UNITS)
            }),
        }
    }
}

/// A part of a stream's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPage {
    /// The text. Pages that follow each other's `next_offset` add up to the whole.
    pub content: String,
    /// Where the content starts: as asked, or one less where that would split a surrogate pair. Past the end it is as
    /// asked, and the content is empty.
    pub offset: u64,
    /// The limit as asked.
    pub limit: u64,
    /// Where to go on: the end of the content; past the end the stream's.
    pub next_offset: u64,
    /// Units of the whole stream. While it grows this only grows, and excludes an unfinished character at its end.
    pub total_size: u64,
    /// Whether there is more at `next_offset` now.
    pub has_more: bool,
}

/// Reads at most `limit` UTF-16 units of `stream` from `offset` on.
///
/// A page never holds half a surrogate pair: one that would end inside a pair ends before it, unless the pair is all
/// that it would hold.
pub fn page(
    stream: &File,
    index: &mut TextIndex,
    tail: Tail,
    offset: u64,
    limit: u64,
) -> io::Result<TextPage> {
    let extent = index.extent(stream, tail)?;
    let total_size = extent.units;
    if offset >= total_size {
        let content = String::new();
        return Ok(TextPage { content, offset, limit, next_offset: total_size, total_size, has_more: false });
    }
    let mut walk = Walk::new(stream, index.near_units(offset), extent.bytes);
    walk.run(&Mark { units: offset, ..Mark::UNBOUNDED }, |_| {})?;

    let start = walk.at();
    let most = start.units.saturating_add(limit);
    let mut content = String::with_capacity(room(limit, extent.bytes - start.bytes));
    walk.run(&Mark { units: most, ..Mark::UNBOUNDED }, |bytes| decode::decode_into(&mut content, bytes))?;
    if walk.at() == start {
        walk.step(|bytes| decode::decode_into(&mut content, bytes))?;
    }
    let next_offset = walk.at().units;
    Ok(TextPage {
        content,
        offset: start.units,
        limit,
        next_offset,
        total_size,
        has_more: next_offset < total_size,
    })
}

/// A first guess at a page's bytes: exact for ASCII.
fn room(limit: u64, left: u64) -> usize {
    usize::try_from(limit.min(left).min(MAX_PAGE_UNITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(bytes: &[u8], tail: Tail, offset: u64, limit: u64) -> (String, u64, u64, u64, bool) {
        let mut stream = tempfile::tempfile().unwrap();
        stream.write_all(bytes).unwrap();
        let page = page(&stream, &mut TextIndex::new(), tail, offset, limit).unwrap();
        (page.content, page.offset, page.next_offset, page.total_size, page.has_more)
    }

    #[test]
    fn a_page_keeps_pairs_whole_and_says_where_it_starts() {
        let text = "ab😀cd".as_bytes();
        for (offset, limit, expected) in [
            (0, 2, ("ab", 0, 2, true)),
            (0, 3, ("ab", 0, 2, true)),
            (0, 4, ("ab😀", 0, 4, true)),
            (2, 1, ("😀", 2, 4, true)),
            (3, 1, ("😀", 2, 4, true)),
            (3, 3, ("😀c", 2, 5, true)),
            (4, 50, ("cd", 4, 6, false)),
            (6, 50, ("", 6, 6, false)),
            (99, 50, ("", 99, 6, false)),
            (u64::MAX, u64::MAX, ("", u64::MAX, 6, false)),
        ] {
            let (content, start, next, total, more) = read(text, Tail::Final, offset, limit);
            assert_eq!((content.as_str(), start, next, more), expected, "{offset}, {limit}");
            assert_eq!(total, 6);
        }
    }

    #[test]
    fn an_unfinished_character_is_held_back_until_the_end_is_final() {
        let growing = read(b"\xE2\x89", Tail::Growing, 0, 10);
        assert_eq!(growing, (String::new(), 0, 0, 0, false));
        assert_eq!(read("≤".as_bytes(), Tail::Growing, 0, 10), ("≤".into(), 0, 1, 1, false));
        assert_eq!(read(b"\xE2\x89", Tail::Final, 0, 10), ("\u{FFFD}".into(), 0, 1, 1, false));
        assert_eq!(read(b"a\xF0\x9F\x98", Tail::Final, 1, 1), ("\u{FFFD}".into(), 1, 2, 2, false));
    }

    #[test]
    fn requests_are_clamped() {
        let request = |offset, limit| {
            let request = PageRequest::clamped(offset, limit);
            (request.offset, request.limit)
        };
        assert_eq!(request(None, None), (0, DEFAULT_PAGE_UNITS));
        assert_eq!(request(Some(-5), Some(-5)), (0, 1));
        assert_eq!(request(Some(7), Some(0)), (7, 1));
        assert_eq!(request(Some(i64::MAX), Some(i64::MAX)), (i64::MAX.unsigned_abs(), MAX_PAGE_UNITS));
    }

    #[test]
    fn a_page_crosses_to_javascript_in_camel_case() {
        let page = TextPage {
            content: "x".into(),
            offset: 0,
            limit: 1,
            next_offset: 1,
            total_size: 2,
            has_more: true,
        };
        let json = serde_json::json!({
            "content": "x", "offset": 0, "limit": 1, "nextOffset": 1, "totalSize": 2, "hasMore": true
        });
        assert_eq!(serde_json::to_value(page).unwrap(), json);
    }
}
