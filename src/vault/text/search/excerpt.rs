//! As much of a line as a result shows.

use super::super::decode::{self, Mark};
use crate::limits::MAX_SEARCH_LINE_UNITS;

/// What precedes the match in a line that is cut: the rest of the room follows it.
const LEAD_UNITS: u64 = MAX_SEARCH_LINE_UNITS / 4;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The text, `…` where something is left out.
    pub text: String,
    /// Bytes of the line before it.
    pub start: u64,
}

/// A line without what ends it.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of `line` around the byte `focus`, at most [`MAX_SEARCH_LINE_UNITS`].
pub(super) fn excerpt(line: &[u8], focus: usize) -> Excerpt {
    // With fewer bytes than units to spare there is nothing to count.
    let fits = line.len() as u64 <= MAX_SEARCH_LINE_UNITS || units_within(line, MAX_SEARCH_LINE_UNITS).1;
    if fits {
        return part(line, Mark::default(), line.len());
    }
    let mut at = Mark::default();
    decode::advance(line, &mut at, &Mark { bytes: focus as u64, ..Mark::UNBOUNDED }, true);
    let mut start = Mark::default();
    let lead = Mark { units: at.units.saturating_sub(LEAD_UNITS), ..Mark::UNBOUNDED };
    let from = decode::advance(line, &mut start, &lead, true);
    // One unit for each of the two marks.
    let (length, _) = units_within(&line[from..], MAX_SEARCH_LINE_UNITS - 2);
    part(line, start, from + length)
}

/// How many bytes of `line` make at most `units`, and whether that is all.
fn units_within(line: &[u8], units: u64) -> (usize, bool) {
    let used = decode::advance(line, &mut Mark::default(), &Mark { units, ..Mark::UNBOUNDED }, true);
    (used, used == line.len())
}

fn part(line: &[u8], start: Mark, end: usize) -> Excerpt {
    let from = usize::try_from(start.bytes).unwrap_or(end);
    let mut text = String::with_capacity(end - from + 2 * '…'.len_utf8());
    if from > 0 {
        text.push('…');
    }
    decode::decode_into(&mut text, &line[from..end]);
    if end < line.len() {
        text.push('…');
    }
    Excerpt { text, start: start.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_whole() {
        let whole = |line: &[u8]| excerpt(line, line.len() / 2);
        assert_eq!(whole(b"abc"), Excerpt { text: "abc".into(), start: 0 });
        assert_eq!(whole(b""), Excerpt { text: String::new(), start: 0 });
        let line = "≤".repeat(2_000);
        assert_eq!(whole(line.as_bytes()).text, line);
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        for (unit, units) in [("x", 1_u64), ("≤", 1), ("😀", 2)] {
            for at in [0, 3, 2_000, 50_000 - 3, 50_000 - 1] {
                let line = format!("{}needle{}", unit.repeat(at), unit.repeat(50_000 - at));
                let focus = at * unit.len();
                let got = excerpt(line.as_bytes(), focus);
                assert!(decode::units(&got.text) as u64 <= MAX_SEARCH_LINE_UNITS, "{unit} {at}");
                assert!(got.text.contains("needle"), "{unit} {at}");
                assert_eq!(got.text.starts_with('…'), at as u64 * units > LEAD_UNITS);
                let start = usize::try_from(got.start).unwrap();
                assert!(line[start..].starts_with(got.text.trim_matches('…')));
            }
        }
    }
}
