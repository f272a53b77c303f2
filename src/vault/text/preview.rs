//! A few characters of a stream, at the cost of one short read: never of the stream, nor of its index.

use std::fs::File;
use std::io;

use super::decode::{self, MAX_CHAR};
use super::index::Tail;
use super::walk;
use crate::limits::{MAX_PAGE_UNITS, STATUS_READ_BYTES};

const NO_OUTPUT_YET: &str = "(no output yet)";
/// What the tail of a command that is over says when there is none.
pub const NO_OUTPUT: &str = "(the command wrote no output)";
const STDOUT: &str = "[stdout tail]\n";
const STDERR: &str = "[stderr tail]\n";

/// The ends of both streams, in at most `max_units` UTF-16 units and [`STATUS_READ_BYTES`] of reading.
///
/// A stream that is empty is left out; what one doesn't need of its half of the room goes to the other.
pub fn tail_preview(stdout: &File, stderr: &File, tail: Tail, max_units: usize) -> io::Result<String> {
    let stdout = tail_text(stdout, tail)?;
    let stderr = tail_text(stderr, tail)?;
    let preview = match (stdout.is_empty(), stderr.is_empty()) {
        (true, true) if tail == Tail::Growing => NO_OUTPUT_YET.to_owned(),
        (true, true) => NO_OUTPUT.to_owned(),
        (false, true) => section(STDOUT, &stdout, max_units),
        (true, false) => section(STDERR, &stderr, max_units),
        (false, false) => {
            // One more for the line feed between the two.
            let room = max_units.saturating_sub(STDOUT.len() + STDERR.len() + 1);
            let (out_units, err_units) = (decode::units(&stdout), decode::units(&stderr));
            let for_out = out_units.min((room / 2).max(room.saturating_sub(err_units)));
            let mut both = format!("{STDOUT}{}", decode::tail_units(&stdout, for_out));
            if !both.ends_with('\n') {
                both.push('\n');
            }
            both.push_str(STDERR);
            both.push_str(decode::tail_units(&stderr, room - for_out));
            both
        }
    };
    Ok(decode::head_units(&preview, max_units).to_owned())
}

fn section(title: &str, text: &str, max_units: usize) -> String {
    format!("{title}{}", decode::tail_units(text, max_units.saturating_sub(title.len())))
}

/// The text of the last bytes of `stream`, half of what a status may read.
fn tail_text(stream: &File, tail: Tail) -> io::Result<String> {
    let len = stream.metadata()?.len();
    let size = len.min(STATUS_READ_BYTES as u64 / 2);
    let mut bytes = vec![0; walk::chunk(size)];
    walk::read_full(stream, &mut bytes, len - size)?;
    // Three bytes of context tell whether the next one starts a character.
    let start = if size < len { decode::boundary_from(&bytes, MAX_CHAR - 1) } else { 0 };
    let end = settled_len(&bytes, tail);
    let mut text = String::with_capacity(bytes.len());
    decode::decode_into(&mut text, bytes.get(start..end).unwrap_or_default());
    Ok(text)
}

fn settled_len(bytes: &[u8], tail: Tail) -> usize {
    match tail {
        Tail::Growing => bytes.len() - decode::unfinished(bytes),
        Tail::Final => bytes.len(),
    }
}

/// The start of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadPreview {
    /// The text, with a last `…` where it is cut.
    pub text: String,
    /// Where a text page goes on, in UTF-16 units: the `…` is not counted.
    pub next_offset: u64,
    /// Whether the stream holds more.
    pub cut: bool,
}

/// The start of `stream` in at most `units` UTF-16 units. The start and not the end: paging goes on where it stopped.
pub fn head_preview(stream: &File, tail: Tail, units: usize) -> io::Result<HeadPreview> {
    let units = units.min(usize::try_from(MAX_PAGE_UNITS).unwrap_or(usize::MAX));
    let len = stream.metadata()?.len();
    // Three bytes a unit at most, and one character more to know that there is one.
    let size = usize::try_from(len).map_or(usize::MAX, |len| len).min(3 * units + 2 * MAX_CHAR);
    let mut bytes = vec![0; size];
    walk::read_full(stream, &mut bytes, 0)?;
    let whole = size as u64 == len;
    let end = settled_len(&bytes, if whole { tail } else { Tail::Growing });
    let mut text = String::with_capacity(end);
    decode::decode_into(&mut text, &bytes[..end]);

    let cut = decode::units(&text) > units;
    if cut {
        text.truncate(decode::head_units(&text, units.saturating_sub(1)).len());
    }
    let next_offset = decode::units(&text) as u64;
    if cut && units > 0 {
        text.push('…');
    }
    Ok(HeadPreview { text, next_offset, cut })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::limits::{DEFAULT_PREVIEW_UNITS, TAIL_PREVIEW_UNITS};

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn tails(stdout: &[u8], stderr: &[u8], tail: Tail) -> String {
        let preview = tail_preview(&file(stdout), &file(stderr), tail, TAIL_PREVIEW_UNITS).unwrap();
        assert!(decode::units(&preview) <= TAIL_PREVIEW_UNITS);
        preview
    }

    #[test]
    fn an_empty_stream_is_left_out_and_two_are_said() {
        assert_eq!(tails(b"", b"", Tail::Growing), "(no output yet)");
        assert_eq!(tails(b"\xE2\x89", b"", Tail::Growing), "(no output yet)");
        assert_eq!(tails(b"", b"", Tail::Final), "(the command wrote no output)");
        assert_eq!(tails(b"out\n", b"", Tail::Final), "[stdout tail]\nout\n");
        assert_eq!(tails(b"", b"err", Tail::Final), "[stderr tail]\nerr");
        assert_eq!(tails(b"out\n", b"err\n", Tail::Final), "[stdout tail]\nout\n[stderr tail]\nerr\n");
        assert_eq!(
            tails(b"out", b"err\xE2\x89", Tail::Final),
            "[stdout tail]\nout\n[stderr tail]\nerr\u{FFFD}"
        );
    }

    #[test]
    fn both_share_the_room_and_what_one_leaves_goes_to_the_other() {
        let long = vec![b'o'; 100_000];
        let count = |preview: &str, letter| preview.matches(letter).count();
        let room = TAIL_PREVIEW_UNITS - STDOUT.len() - STDERR.len() - 1;
        let both = tails(&long, &vec![b'E'; 100_000], Tail::Final);
        // The titles hold the letters o, u, t, r, e too: count from the sections' sides.
        assert_eq!(count(&both, 'E'), room - room / 2);
        assert_eq!(decode::units(&both), TAIL_PREVIEW_UNITS);
        let short_err = tails(&long, b"E", Tail::Final);
        assert_eq!(decode::units(&short_err), TAIL_PREVIEW_UNITS);
        assert!(short_err.ends_with("\n[stderr tail]\nE"));
        let short_out = tails(b"O\n", &long, Tail::Final);
        assert_eq!(decode::units(&short_out), TAIL_PREVIEW_UNITS - 1, "O brought its own line feed");
        let only = tails(&long, b"", Tail::Final);
        assert_eq!(decode::units(&only), TAIL_PREVIEW_UNITS);
    }

    #[test]
    fn a_tail_starts_at_a_character() {
        for lead in 0..8 {
            for unit in ["😀", "≤", "é"] {
                let text = "x".repeat(lead) + &unit.repeat(20_000);
                let preview = tails(text.as_bytes(), b"", Tail::Final);
                let tail = preview.strip_prefix("[stdout tail]\n").unwrap();
                assert!(tail.len() > 1000 && text.ends_with(tail), "{lead} {unit}");
            }
        }
    }

    #[test]
    fn a_head_ends_with_an_ellipsis_where_it_is_cut() {
        let head = |text: &str, units| {
            let preview = head_preview(&file(text.as_bytes()), Tail::Final, units).unwrap();
            assert!(decode::units(&preview.text) <= units);
            (preview.text, preview.next_offset, preview.cut)
        };
        assert_eq!(head("abc", 3), ("abc".into(), 3, false));
        assert_eq!(head("abcd", 3), ("ab…".into(), 2, true));
        assert_eq!(head("a😀b", 4), ("a😀b".into(), 4, false));
        assert_eq!(head("a😀b", 3), ("a…".into(), 1, true));
        assert_eq!(head("", 3), (String::new(), 0, false));
        assert_eq!(head("abc", 0), (String::new(), 0, true));
        let (text, next, cut) = head(&"≤".repeat(5000), DEFAULT_PREVIEW_UNITS);
        assert_eq!((text.chars().count(), next, cut), (DEFAULT_PREVIEW_UNITS, 599, true));
    }
}
