//! The head of an answer, made while the whole passes by.

use std::io::{self, Write};

use super::escape::Escaper;

/// Bytes that can hold one UTF-16 unit of text: a unit of the basic plane has at most three.
const BYTES_A_UNIT: usize = 3;

/// Passes everything on and keeps the beginning.
pub(crate) struct Preview<'o> {
    out: &'o mut dyn Write,
    head: Vec<u8>,
    room: usize,
    total: u64,
    limit: usize,
}

/// What the caller shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The head, with control characters escaped; an ellipsis ends it when there is more.
    pub preview: String,
    /// UTF-16 units of the whole text that the preview covers: where reading goes on.
    pub covered: u64,
    /// Bytes of the whole.
    pub bytes: u64,
}

impl<'o> Preview<'o> {
    /// Keeps at most `limit` UTF-16 units.
    pub(crate) fn new(out: &'o mut dyn Write, limit: usize) -> Self {
        Self { out, head: Vec::new(), room: (limit + 1) * BYTES_A_UNIT + 1, total: 0, limit }
    }

    /// Whether nothing has passed yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The preview, once everything has passed.
    pub(crate) fn finish(self) -> Shown {
        let whole = self.total == self.head.len() as u64;
        let text = String::from_utf8_lossy(&self.head);
        let mut shown = Shown { preview: String::new(), covered: 0, bytes: self.total };
        let mut units = 0;
        let mut rest = text.chars().peekable();
        let mut cut = !whole;
        while let Some(c) = rest.next() {
            let mut piece = String::new();
            if c == '\r' && rest.peek() == Some(&'\n') {
                piece.push(c);
            } else {
                piece = escaped(c);
            }
            let length = piece.encode_utf16().count();
            if units + length > self.limit {
                cut = true;
                break;
            }
            units += length;
            shown.covered += c.len_utf16() as u64;
            shown.preview.push_str(&piece);
        }
        if cut {
            shown.preview.push('…');
        }
        shown
    }
}

/// The head of bytes that are at hand, such as what git wrote to standard error, for host code.
pub fn preview_of(bytes: &[u8], limit: usize) -> Shown {
    let mut nowhere = io::sink();
    let mut preview = Preview::new(&mut nowhere, limit);
    // A sink takes everything.
    let _ = preview.write_all(bytes);
    preview.finish()
}

fn escaped(c: char) -> String {
    let mut out = Vec::new();
    let mut buffer = [0; 4];
    let mut escaper = Escaper::lines();
    let written =
        escaper.push(c.encode_utf8(&mut buffer).as_bytes(), &mut out).and_then(|()| escaper.flush(&mut out));
    // Writing to memory doesn't fail, and what the escaper writes of a character is text.
    debug_assert!(written.is_ok());
    String::from_utf8(out).unwrap_or_default()
}

impl Write for Preview<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        let kept = count.min(self.room - self.head.len());
        self.head.extend_from_slice(&bytes[..kept]);
        self.total += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], limit: usize) -> Shown {
        let mut out = Vec::new();
        let mut preview = Preview::new(&mut out, limit);
        preview.write_all(text).unwrap();
        let shown = preview.finish();
        assert_eq!(out, text);
        shown
    }

    #[test]
    fn an_ellipsis_marks_a_cut_and_only_a_cut() {
        assert_eq!(shown(b"abc", 3).preview, "abc");
        assert_eq!(shown(b"abcd", 3), Shown { preview: "abc…".into(), covered: 3, bytes: 4 });
        assert_eq!(shown("a😀".as_bytes(), 2), Shown { preview: "a…".into(), covered: 1, bytes: 5 });
        assert_eq!(shown("a😀".as_bytes(), 3).preview, "a😀");
        assert_eq!(shown("é".repeat(5000).as_bytes(), 4000).covered, 4000);
    }

    #[test]
    fn escapes_take_room_but_reading_goes_on_where_the_text_stopped() {
        assert_eq!(shown(b"\x1b\x1bab", 5), Shown { preview: "\\x1b…".into(), covered: 1, bytes: 4 });
        assert_eq!(shown(b"a\r\nb", 10).preview, "a\r\nb");
    }
}
