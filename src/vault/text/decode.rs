//! UTF-8 as `Buffer.toString("utf8")` decodes it, as positions and counts: nothing here holds text.
//!
//! The decoder of the WHATWG Encoding Standard, which keeps a byte order mark here: what is ill-formed becomes one
//! U+FFFD for each maximal subpart. Two facts carry the rest of this module:
//!
//! - A byte that is no continuation byte (`80..=BF`) always starts a character of the decoding, whatever came before.
//!   So three bytes of context tell whether a position is a boundary, anywhere in a stream.
//! - No character of the decoding takes more than four bytes, nor more than three for each UTF-16 unit.

use super::ill_formed;

/// A boundary between two characters of the decoding, counted from the stream's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// Bytes before it.
    pub bytes: u64,
    /// UTF-16 units that these bytes decode to.
    pub units: u64,
    /// Line feeds among them.
    pub lines: u64,
}

impl Mark {
    /// No bound at all; narrow one field to walk as far as it allows.
    pub(super) const UNBOUNDED: Self = Self { bytes: u64::MAX, units: u64::MAX, lines: u64::MAX };

    fn plus(self, counts: Counts) -> Self {
        Self {
            bytes: self.bytes + u64::from(counts.bytes),
            units: self.units + u64::from(counts.units),
            lines: self.lines + u64::from(counts.lines),
        }
    }

    fn within(self, bound: &Self) -> bool {
        self.bytes <= bound.bytes && self.units <= bound.units && self.lines <= bound.lines
    }
}

/// What a few bytes add to a mark.
#[derive(Debug, Clone, Copy)]
struct Counts {
    bytes: u32,
    units: u32,
    lines: u32,
}

/// The longest encoding of a character.
pub(super) const MAX_CHAR: usize = 4;

/// Large enough to spread the cost of a call, small enough to stay in the first-level cache for its four passes.
const BLOCK: usize = 4096;
/// What is tried before single characters where a block crosses the bound.
const SMALL_BLOCK: usize = 64;

/// Walks `at` over `bytes`, which start at it, as far as no field passes `bound`; returns the bytes walked over.
///
/// Unless the bytes are `closed`, an unfinished character at their end is left; when they are, nothing follows and it
/// counts as the one U+FFFD that it becomes.
pub(super) fn advance(bytes: &[u8], at: &mut Mark, bound: &Mark, closed: bool) -> usize {
    let mut used = 0;
    for size in [BLOCK, SMALL_BLOCK] {
        while let Some(step) = step_block(&bytes[used..], size, at, bound) {
            used += step;
        }
    }
    while let Some(counts) = first(&bytes[used..], closed) {
        let next = at.plus(counts);
        if !next.within(bound) {
            break;
        }
        *at = next;
        used += counts.bytes as usize;
    }
    used
}

/// Walks over one character, whatever it is; 0 when `bytes` hold no finished one.
pub(super) fn advance_one(bytes: &[u8], at: &mut Mark, closed: bool) -> usize {
    let Some(counts) = first(bytes, closed) else { return 0 };
    *at = at.plus(counts);
    counts.bytes as usize
}

/// Walks over up to `size` bytes at once, at most [`BLOCK`], if that stays within `bound`.
fn step_block(bytes: &[u8], size: usize, at: &mut Mark, bound: &Mark) -> Option<usize> {
    let most = usize::try_from(bound.bytes.saturating_sub(at.bytes)).map_or(size, |left| left.min(size));
    let block = &bytes[..bytes.len().min(most)];
    let block = &block[..block.len() - unfinished(block)];
    let next = at.plus(count(block));
    if block.is_empty() || !next.within(bound) {
        return None;
    }
    *at = next;
    Some(block.len())
}

/// Counts at most [`BLOCK`] bytes that begin and end at boundaries.
fn count(block: &[u8]) -> Counts {
    let units = if simdutf8::basic::from_utf8(block).is_ok() {
        let chars = bytecount::num_chars(block);
        if chars == block.len() { chars } else { chars + four_byte_leads(block) }
    } else {
        ill_formed::units(block)
    };
    let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Counts { bytes: narrow(block.len()), units: narrow(units), lines: narrow(bytecount::count(block, b'\n')) }
}

/// Bytes of `F0` and above. Eight at a time by hand: the warden is built for size, where loops aren't vectorized.
fn four_byte_leads(bytes: &[u8]) -> usize {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut total = rest.iter().filter(|byte| **byte >= 0xF0).count();
    // A byte-wide sum overflows after 255 additions.
    for group in words.chunks(255) {
        let mut sums = 0_u64;
        for word in group {
            let word = u64::from_ne_bytes(*word);
            sums += ((word & (word << 1) & (word << 2) & (word << 3)) >> 7) & LOW_BITS;
        }
        total += sums.to_ne_bytes().iter().map(|sum| usize::from(*sum)).sum::<usize>();
    }
    total
}

/// The first character of the decoding; `None` when there is none, or an unfinished one that may go on.
fn first(bytes: &[u8], closed: bool) -> Option<Counts> {
    let lead = *bytes.first()?;
    let (more, second) = match lead {
        0x00..=0x7F => return Some(Counts { bytes: 1, units: 1, lines: u32::from(lead == b'\n') }),
        0xC2..=0xDF => (1, 0x80..=0xBF),
        0xE0 => (2, 0xA0..=0xBF),
        0xED => (2, 0x80..=0x9F),
        0xE1..=0xEF => (2, 0x80..=0xBF),
        0xF0 => (3, 0x90..=0xBF),
        0xF4 => (3, 0x80..=0x8F),
        0xF1..=0xF3 => (3, 0x80..=0xBF),
        _ => return Some(Counts { bytes: 1, units: 1, lines: 0 }),
    };
    for place in 1..=more {
        let replaced = Some(Counts { bytes: place, units: 1, lines: 0 });
        match bytes.get(place as usize) {
            None if closed => return replaced,
            None => return None,
            Some(byte) if place == 1 && !second.contains(byte) => return replaced,
            Some(0x80..=0xBF) => {}
            Some(_) => return replaced,
        }
    }
    Some(Counts { bytes: more + 1, units: if more == 3 { 2 } else { 1 }, lines: 0 })
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes at the end of `bytes` are the start of a character that may still go on: 0 to 3.
pub(super) fn unfinished(bytes: &[u8]) -> usize {
    let context = bytes.len().min(MAX_CHAR - 1);
    let tail = &bytes[bytes.len() - context..];
    let Some(start) = tail.iter().rposition(|byte| !is_continuation(*byte)) else { return 0 };
    if first(&tail[start..], false).is_none() { tail.len() - start } else { 0 }
}

/// The first boundary at or after `position`, given bytes that begin at the stream's start or at least three before
/// `position`, and reach four beyond it or to the stream's end.
pub(super) fn boundary_from(bytes: &[u8], position: usize) -> usize {
    if position >= bytes.len() || !is_continuation(bytes[position]) {
        return position.min(bytes.len());
    }
    let context = position.saturating_sub(MAX_CHAR - 1);
    let lead = bytes[context..position].iter().rposition(|byte| !is_continuation(*byte));
    // Without a lead in reach, the continuation byte stands for itself.
    let Some(mut boundary) = lead.map(|place| context + place) else { return position };
    while boundary < position {
        let Some(counts) = first(&bytes[boundary..], true) else { break };
        boundary += counts.bytes as usize;
    }
    boundary
}

/// Appends the decoding of `bytes`, which begin and end at boundaries.
pub(super) fn decode_into(text: &mut String, bytes: &[u8]) {
    if let Ok(valid) = simdutf8::basic::from_utf8(bytes) {
        text.push_str(valid);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// UTF-16 units of `text`.
pub fn units(text: &str) -> usize {
    bytecount::num_chars(text.as_bytes()) + four_byte_leads(text.as_bytes())
}

/// As much of the start of `text` as `most` UTF-16 units hold; never half a pair.
pub fn head_units(text: &str, most: usize) -> &str {
    let mut room = most;
    let end = text.char_indices().find(|(_, c)| match room.checked_sub(c.len_utf16()) {
        Some(left) => {
            room = left;
            false
        }
        None => true,
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// As much of the end of `text` as `most` UTF-16 units hold; never half a pair.
pub fn tail_units(text: &str, most: usize) -> &str {
    let mut room = most;
    let cut = text.char_indices().rev().find(|(_, c)| match room.checked_sub(c.len_utf16()) {
        Some(left) => {
            room = left;
            false
        }
        None => true,
    });
    cut.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte strings around every edge of the encoding.
    const CASES: &[&[u8]] = &[
        b"",
        b"plain\nlines\n",
        "≤ é 😀 \u{10FFFF}\u{FEFF}".as_bytes(),
        b"\xEF\xBB\xBFbom",
        b"\xE2\x82",
        b"\xE2\x82A",
        b"\xF0\x9F\x98",
        b"\xF0\x9F\x98\xF0\x9F\x98\x80",
        b"\xC0\x80\xC1\xBF",
        b"\xE0\x80\x80\xE0\x9F\xBF",
        b"\xED\xA0\x80\xED\xBF\xBF",
        b"\xF0\x80\x80\x80\xF0\x8F\xBF\xBF",
        b"\xF4\x90\x80\x80\xF5\x80\x80\x80",
        b"\x80\x80\x80\x80\x80",
        b"a\xFF\xFE\0b",
    ];

    fn pieces(bytes: &[u8]) -> Vec<usize> {
        let mut at = Mark::default();
        let mut boundaries = vec![0];
        while advance_one(&bytes[to_usize(at.bytes)..], &mut at, true) > 0 {
            boundaries.push(to_usize(at.bytes));
        }
        boundaries
    }

    fn to_usize(n: u64) -> usize {
        usize::try_from(n).unwrap()
    }

    #[test]
    fn counts_are_those_of_the_decoded_text() {
        for case in CASES {
            for repeat in [1, 7, 3000] {
                let bytes = case.repeat(repeat);
                let text = String::from_utf8_lossy(&bytes);
                let mut at = Mark::default();
                assert_eq!(advance(&bytes, &mut at, &Mark::UNBOUNDED, true), bytes.len());
                let expected = (bytes.len(), text.encode_utf16().count(), text.matches('\n').count());
                assert_eq!(
                    (to_usize(at.bytes), to_usize(at.units), to_usize(at.lines)),
                    expected,
                    "{case:x?}"
                );
                assert_eq!(units(&text), expected.1);
            }
        }
    }

    #[test]
    fn a_boundary_is_found_from_three_bytes_of_context() {
        for case in CASES {
            let boundaries = pieces(case);
            for position in 0..=case.len() {
                let expected = boundaries.iter().find(|boundary| **boundary >= position);
                let context = position.saturating_sub(3);
                let found = boundary_from(&case[context..], position - context) + context;
                assert_eq!(Some(&found), expected, "{case:x?} at {position}");
            }
        }
    }

    #[test]
    fn what_is_unfinished_is_what_more_bytes_could_change() {
        for (bytes, held) in [
            (&b"a"[..], 0),
            (b"\xE2", 1),
            (b"a\xE2\x82", 2),
            (b"\xF0\x9F\x98", 3),
            (b"\xF0\x80", 0),
            (b"\xED\xA0", 0),
            (b"\xC0", 0),
            (b"\x80\x80\x80", 0),
            ("≤".as_bytes(), 0),
            ("😀".as_bytes(), 0),
        ] {
            assert_eq!(unfinished(bytes), held, "{bytes:x?}");
        }
    }

    #[test]
    fn cuts_keep_pairs_whole() {
        assert_eq!(head_units("a😀b", 2), "a");
        assert_eq!(head_units("a😀b", 3), "a😀");
        assert_eq!(head_units("a😀b", 9), "a😀b");
        assert_eq!(tail_units("a😀b", 2), "b");
        assert_eq!(tail_units("a😀b", 3), "😀b");
        assert_eq!(tail_units("a😀b", 0), "");
    }
}
