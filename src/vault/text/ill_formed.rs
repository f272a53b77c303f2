//! Counting bytes that are no UTF-8 as fast as they come: binary output is common, and the keeper counts it too.
//!
//! Whether a byte belongs to the character before it depends on the three bytes before it alone, so eight bytes are
//! classified at once in a word, without branches: each class is a word with the top bit of its bytes set. No loop here
//! needs the compiler to vectorize it, which it doesn't in a build for size.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// UTF-16 units of the decoding of `bytes`, which begin and end at boundaries; whatever they are.
pub(super) fn units(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);

    let mut classes = Classes::default();
    let mut joined = Sum::default();
    let mut fourth = Sum::default();
    for word in words.iter().chain([&last]) {
        let (word_joined, word_fourth) = classes.next(u64::from_le_bytes(*word));
        joined.add(word_joined);
        fourth.add(word_fourth);
    }
    // One unit for each byte that starts a character, and a second one where a fourth byte completes it.
    bytes.len() - joined.total() + fourth.total()
}

/// A class of bytes in the current word, as the following byte sees it: moved by one, with the last of the word before.
#[derive(Default)]
struct Before(u64);

impl Before {
    fn next(&mut self, class: u64) -> u64 {
        let moved = (class << 8) | self.0;
        self.0 = class >> 56;
        moved
    }
}

/// What the bytes of a word can be to those of the next.
#[derive(Default)]
struct Classes {
    lead: Before,
    lead_of_three: Before,
    lead_of_four: Before,
    e0: Before,
    ed: Before,
    f0: Before,
    f4: Before,
    second_of_three: Before,
    second_of_four: Before,
    third_of_four: Before,
}

impl Classes {
    /// Which bytes of `word` belong to the character before them, and which of those are the fourth.
    fn next(&mut self, word: u64) -> (u64, u64) {
        let tops = word & TOPS;
        let low = word & !TOPS;
        // Bytes of at least `least`, which is 0x80 or more: adding what is missing to 0x80 carries into the top bit.
        let from = |least: u64| (low + (0x100 - least) * ONES) & tops;
        let continuation = tops & !from(0xC0);
        let (three, four, never) = (from(0xE0), from(0xF0), from(0xF5));
        let (past_8f, from_a0) = (from(0x90), from(0xA0));

        let after_lead = self.lead.next(from(0xC2) & !never);
        let after_three = self.lead_of_three.next(three & !four);
        let after_four = self.lead_of_four.next(four & !never);
        let refused = (self.e0.next(three & !from(0xE1)) & !from_a0)
            | (self.ed.next(from(0xED) & !from(0xEE)) & from_a0)
            | (self.f0.next(four & !from(0xF1)) & !past_8f)
            | (self.f4.next(from(0xF4) & !never) & past_8f);
        let second = continuation & after_lead & !refused;
        let third_of_three = continuation & self.second_of_three.next(second & after_three);
        let third_of_four = continuation & self.second_of_four.next(second & after_four);
        let fourth = continuation & self.third_of_four.next(third_of_four);
        (second | third_of_three | third_of_four | fourth, fourth)
    }
}

/// How many bytes were in a class, over many words.
#[derive(Default)]
struct Sum {
    /// A count for each byte of the word, good for 255 words.
    bytes: u64,
    words: u8,
    total: usize,
}

impl Sum {
    fn add(&mut self, class: u64) {
        if self.words == u8::MAX {
            self.fold();
        }
        self.bytes += class >> 7;
        self.words += 1;
    }

    fn fold(&mut self) {
        self.total += self.bytes.to_le_bytes().iter().map(|count| usize::from(*count)).sum::<usize>();
        (self.bytes, self.words) = (0, 0);
    }

    fn total(mut self) -> usize {
        self.fold();
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte that is the first or the last of a class of the decoder.
    const EDGES: [u8; 27] = [
        0x00, 0x0A, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
        0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFF,
    ];

    #[test]
    fn every_sequence_of_edges_counts_as_it_decodes() {
        let all = EDGES.len().pow(4);
        for shift in [0, 5] {
            // All sequences of four one after the other, in words that they lie across differently.
            let mut bytes = vec![b'x'; shift];
            for number in 0..all {
                let place = |power: u32| EDGES[number / EDGES.len().pow(power) % EDGES.len()];
                bytes.extend([place(3), place(2), place(1), place(0), b'x']);
            }
            let expected = String::from_utf8_lossy(&bytes).encode_utf16().count();
            assert_eq!(units(&bytes), expected);
            for chunk in bytes.chunks(5 * EDGES.len()).skip(1) {
                let from_boundary = &chunk[chunk.iter().position(|byte| *byte == b'x').unwrap()..];
                let cut = &from_boundary[..=from_boundary.iter().rposition(|byte| *byte == b'x').unwrap()];
                assert_eq!(units(cut), String::from_utf8_lossy(cut).encode_utf16().count());
            }
        }
    }
}
