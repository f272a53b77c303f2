//! Control characters made visible. A terminal, a log or a model must not take them for orders.

use std::io::{self, Write};

/// Escapes a stream of bytes that is cut anywhere.
#[derive(Debug)]
pub(super) struct Escaper {
    keep_lines: bool,
    /// A character that is not whole yet, or a carriage return whose newline may follow.
    held: Vec<u8>,
}

impl Escaper {
    /// Keeps newlines and tabs.
    pub(super) fn lines() -> Self {
        Self { keep_lines: true, held: Vec::new() }
    }

    /// Escapes these too, for names that must stay on one line.
    pub(super) fn names() -> Self {
        Self { keep_lines: false, held: Vec::new() }
    }

    /// Writes what of `piece` is whole.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.held.is_empty() {
            let rest = self.write(piece, false, out)?;
            self.held = rest.to_vec();
            return Ok(());
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.extend_from_slice(piece);
        let rest = self.write(&joined, false, out)?;
        self.held = rest.to_vec();
        Ok(())
    }

    /// Writes what was held back: nothing follows that could complete it.
    pub(super) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.write(&held, true, out).map(|_| ())
    }

    /// Writes `bytes` and gives what must wait for more.
    fn write<'b>(&self, bytes: &'b [u8], last: bool, out: &mut dyn Write) -> io::Result<&'b [u8]> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let (text, bad): (&str, &[u8]) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, &[]),
                Err(error) => {
                    let (good, rest) = bytes.split_at(error.valid_up_to());
                    let bad = &rest[..error.error_len().unwrap_or(rest.len())];
                    // The part before is valid by the error's own word.
                    (std::str::from_utf8(good).unwrap_or_default(), bad)
                }
            };
            let after = &bytes[text.len() + bad.len()..];
            let unfinished = after.is_empty() && !last;
            if unfinished && bad.is_empty() && text.ends_with('\r') {
                self.characters(&text[..text.len() - 1], out)?;
                return Ok(&bytes[bytes.len() - 1..]);
            }
            self.characters(text, out)?;
            if unfinished && !bad.is_empty() && is_beginning(bad) {
                return Ok(bad);
            }
            for byte in bad {
                write!(out, "\\x{byte:02x}")?;
            }
            bytes = after;
        }
        Ok(&[])
    }

    fn characters(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut plain_from = 0;
        for (at, c) in text.char_indices() {
            if !is_unsafe(c) || (self.keep_lines && is_line_end(text, at, c)) {
                continue;
            }
            out.write_all(&text.as_bytes()[plain_from..at])?;
            plain_from = at + c.len_utf8();
            match c {
                '\n' => out.write_all(b"\\n")?,
                '\t' => out.write_all(b"\\t")?,
                c if u32::from(c) < 0x100 => write!(out, "\\x{:02x}", u32::from(c))?,
                c => write!(out, "\\u{:04x}", u32::from(c))?,
            }
        }
        out.write_all(&text.as_bytes()[plain_from..])
    }
}

/// A newline, a tab, or a carriage return that belongs to a newline.
fn is_line_end(text: &str, at: usize, c: char) -> bool {
    matches!(c, '\n' | '\t') || (c == '\r' && text[at + 1..].starts_with('\n'))
}

/// C0, DEL, C1, and the marks that reorder text.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether `bytes` could become a character with more behind.
fn is_beginning(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}
