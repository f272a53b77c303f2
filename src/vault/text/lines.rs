//! Line pages: lines by number, each behind its number.

use std::fmt::Write as _;
use std::fs::File;
use std::io;

use serde::Serialize;

use super::decode::{self, Mark};
use super::index::{Tail, TextIndex};
use super::walk::{self, Walk};
use crate::limits::{DEFAULT_PAGE_LINES, MAX_PAGE_LINES, MAX_PAGE_UNITS};

/// Which lines a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRequest {
    /// The first line, from 1.
    pub line: u64,
    /// How many.
    pub lines: u64,
}

impl LineRequest {
    /// What a caller's integers mean: a line below 1 is 1, a count is moved into 1…[`MAX_PAGE_LINES`].
    pub fn clamped(line: Option<i64>, lines: Option<i64>) -> Self {
        let positive = |number: i64| u64::try_from(number).unwrap_or(1).max(1);
        Self {
            line: line.map_or(1, positive),
            lines: lines.map_or(DEFAULT_PAGE_LINES, |lines| positive(lines).min(MAX_PAGE_LINES)),
        }
    }
}

/// Some lines of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinePage {
    /// Each line as its number, a tab, and its text with its line feed: at most [`MAX_PAGE_UNITS`] in all.
    pub content: String,
    /// The first line, as asked.
    pub line: u64,
    /// How many lines the content holds, a cut one included.
    pub lines: u64,
    /// Where the first line starts, in UTF-16 units, as text pages count; past the end the stream's end.
    pub offset: u64,
    /// The first line that the content doesn't hold whole.
    pub next_line: u64,
    /// Where the content ends, in UTF-16 units.
    pub next_offset: u64,
    /// Whether the line was too long for a page: a text page at `next_offset` goes on inside it.
    pub cut: bool,
    /// Lines of the whole stream; one without a line feed at the end counts.
    pub total_lines: u64,
    /// UTF-16 units of the whole stream.
    pub total_size: u64,
    /// Whether there is more at `next_offset` now.
    pub has_more: bool,
}

/// Reads lines of `stream`. Lines end at line feeds alone.
///
/// Whole lines as far as the page's room goes; only a line that doesn't fit a page by itself is cut.
pub fn line_page(
    stream: &File,
    index: &mut TextIndex,
    tail: Tail,
    request: LineRequest,
) -> io::Result<LinePage> {
    let extent = index.extent(stream, tail)?;
    let line = request.line.max(1);
    let mut walk = line_start(stream, index, line, extent.bytes)?;
    let offset = walk.at().units;

    let mut content = String::new();
    let mut room = MAX_PAGE_UNITS;
    let mut given = 0;
    let mut cut = false;
    let mut end = walk.at();
    while given < request.lines && !walk.at_end() && !cut {
        let start = content.len();
        let _ = write!(content, "{}\t", line + given);
        let prefix = (content.len() - start) as u64;
        let whole = prefix < room && take_line(&mut walk, room - prefix, &mut content)?;
        if !whole && given > 0 {
            content.truncate(start);
            break;
        }
        cut = !whole;
        room = room.saturating_sub(prefix + walk.at().units - end.units);
        end = walk.at();
        given += 1;
    }
    Ok(LinePage {
        content,
        line,
        lines: given,
        offset,
        next_line: if cut { line + given - 1 } else { line + given },
        next_offset: end.units,
        cut,
        total_lines: extent.lines + u64::from(ends_without_line_feed(stream, extent.bytes)?),
        total_size: extent.units,
        has_more: end.units < extent.units,
    })
}

/// Stands at the start of `line`, or at the end when there is no such line.
fn line_start<'s>(stream: &'s File, index: &TextIndex, line: u64, end: u64) -> io::Result<Walk<'s>> {
    let feeds = line - 1;
    let Some(inside) = feeds.checked_sub(1) else { return Ok(Walk::new(stream, Mark::default(), end)) };
    let mut walk = Walk::new(stream, index.entry_before(|entry| entry.lines < feeds), end);
    // Up to the line feed before the line, then over it.
    walk.run(&Mark { lines: inside, ..Mark::UNBOUNDED }, |_| {})?;
    walk.step(|_| {})?;
    Ok(walk)
}

/// Appends the rest of a line with its line feed, at most `room` units of it; says whether that was all.
fn take_line(walk: &mut Walk<'_>, room: u64, content: &mut String) -> io::Result<bool> {
    let from = walk.at();
    let most = from.units + room;
    walk.run_in_line(most, |bytes| decode::decode_into(content, bytes))?;
    if walk.at_end() {
        return Ok(true);
    }
    if walk.at().units == most {
        return Ok(false);
    }
    // With room left, what follows is the line feed or a pair too many: only the first is a single byte.
    let one_byte = Mark { bytes: walk.at().bytes + 1, ..Mark::UNBOUNDED };
    walk.run(&one_byte, |bytes| decode::decode_into(content, bytes))?;
    Ok(walk.at().lines > from.lines)
}

fn ends_without_line_feed(stream: &File, end: u64) -> io::Result<bool> {
    let Some(last) = end.checked_sub(1) else { return Ok(false) };
    let mut byte = [0];
    walk::read_full(stream, &mut byte, last)?;
    Ok(byte != *b"\n")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::limits::INDEX_STEP_BYTES;

    fn read(bytes: &[u8], line: u64, lines: u64) -> LinePage {
        let mut stream = tempfile::tempfile().unwrap();
        stream.write_all(bytes).unwrap();
        line_page(&stream, &mut TextIndex::new(), Tail::Final, LineRequest { line, lines }).unwrap()
    }

    #[test]
    fn lines_carry_their_numbers_and_say_where_they_lie() {
        let text = "one\r\n\n😀 three\nfour".as_bytes();
        for (line, lines, expected) in [
            (1, 1, ("1\tone\r\n", 1, 0, 2, 5, true)),
            (2, 2, ("2\t\n3\t😀 three\n", 2, 5, 4, 15, true)),
            (3, 9, ("3\t😀 three\n4\tfour", 2, 6, 5, 19, false)),
            (5, 9, ("", 0, 19, 5, 19, false)),
            (u64::MAX, 9, ("", 0, 19, u64::MAX, 19, false)),
        ] {
            let page = read(text, line, lines);
            let got =
                (&*page.content, page.lines, page.offset, page.next_line, page.next_offset, page.has_more);
            assert_eq!(got, expected, "{line}, {lines}");
            assert_eq!((page.total_lines, page.total_size, page.cut), (4, 19, false));
        }
        assert_eq!(read(b"", 1, 1).total_lines, 0);
        assert_eq!(read(b"\n", 1, 1).total_lines, 1);
    }

    #[test]
    fn a_line_too_long_for_a_page_is_cut_and_read_on_by_offset() {
        let units = usize::try_from(MAX_PAGE_UNITS).unwrap();
        for long in ["x".repeat(units + 9), "😀".repeat(units)] {
            let text = format!("short\n{long}\nlast\n");
            let first = read(text.as_bytes(), 1, 9);
            assert_eq!((&*first.content, first.next_line, first.cut), ("1\tshort\n", 2, false));

            let second = read(text.as_bytes(), 2, 9);
            assert!(second.cut && second.has_more);
            assert_eq!((second.lines, second.next_line), (1, 2));
            let shown = second.content.strip_prefix("2\t").unwrap();
            assert!(long.starts_with(shown));
            assert_eq!(second.next_offset, 6 + decode::units(shown) as u64);
            assert!(decode::units(&second.content).abs_diff(units) <= 1);
        }
    }

    #[test]
    fn a_page_of_lines_stays_within_the_room_of_a_page() {
        let text = "\n".repeat(2 * usize::try_from(MAX_PAGE_UNITS).unwrap());
        let page = read(text.as_bytes(), 1, u64::MAX);
        assert!(decode::units(&page.content) as u64 <= MAX_PAGE_UNITS);
        assert_eq!((page.lines, page.next_line, page.cut), (page.next_offset, page.lines + 1, false));
    }

    #[test]
    fn lines_far_in_are_found_by_the_index() {
        let lines = INDEX_STEP_BYTES / 4;
        let text = (1..=lines).fold(String::new(), |text, line| text + &format!("line {line}\n"));
        for line in [2, lines / 3, lines / 2, lines - 1, lines] {
            assert_eq!(read(text.as_bytes(), line, 1).content, format!("{line}\tline {line}\n"));
        }
    }

    #[test]
    fn requests_are_clamped() {
        let request = LineRequest::clamped(Some(-3), Some(i64::MAX));
        assert_eq!(request, LineRequest { line: 1, lines: MAX_PAGE_LINES });
        assert_eq!(LineRequest::clamped(None, None), LineRequest { line: 1, lines: DEFAULT_PAGE_LINES });
    }
}
