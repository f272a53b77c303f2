//! Outputs that git separates by NUL.

use std::io::{self, Write};

use super::Machine;
use super::escape::Escaper;

/// Lines as they are.
pub(super) struct Lines(pub(super) Escaper);

impl Machine for Lines {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.0.push(piece, out)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.0.flush(out)
    }
}

/// One record a line.
pub(super) struct Records(pub(super) Escaper);

impl Machine for Records {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        for part in piece.split_inclusive(|b| *b == 0) {
            match part.split_last() {
                Some((0, name)) => {
                    self.0.push(name, out)?;
                    self.0.flush(out)?;
                    out.write_all(b"\n")?;
                }
                _ => self.0.push(part, out)?,
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.0.flush(out)
    }
}

/// `<tag> SP <path> NUL`. A lower-case tag means that git takes the file for unchanged without looking.
#[derive(Default)]
pub(super) struct Tracked {
    tag: u8,
    begun: usize,
    path: Option<Escaper>,
}

impl Machine for Tracked {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let mut rest = piece;
        while let Some(first) = rest.first().copied() {
            if self.begun < 2 {
                if self.begun == 0 {
                    self.tag = first;
                    self.path = Some(Escaper::names());
                }
                self.begun += 1;
                rest = &rest[1..];
                continue;
            }
            let length = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
            if let Some(path) = self.path.as_mut() {
                path.push(&rest[..length], out)?;
            }
            if length < rest.len() {
                self.end(out)?;
                out.write_all(match self.tag {
                    b'S' | b's' => b"\t(skip-worktree)\n",
                    tag if tag.is_ascii_lowercase() => b"\t(assume-unchanged)\n",
                    _ => b"\n",
                })?;
                self.begun = 0;
            }
            rest = &rest[(length + 1).min(rest.len())..];
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.path.take().map_or(Ok(()), |mut path| path.flush(out))
    }
}

/// Commits, each announced by an empty record, and names. The first name has a newline of git's before it.
#[derive(Default)]
pub(super) struct NamedLog {
    place: Place,
    text: Option<Escaper>,
    any: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Boundary,
    AfterEmpty,
    Header,
    BeforeFirstName,
    AtName,
    Name,
}

impl NamedLog {
    fn byte_begins(&mut self, first: u8, out: &mut dyn Write) -> io::Result<bool> {
        match self.place {
            Place::AfterEmpty => {
                if self.any {
                    out.write_all(b"\n")?;
                }
                self.any = true;
                self.text = Some(Escaper::lines());
                self.place = Place::Header;
            }
            Place::Boundary | Place::AtName => {
                out.write_all(b"\t")?;
                self.text = Some(Escaper::names());
                self.place = Place::Name;
            }
            Place::BeforeFirstName => {
                self.place = Place::AtName;
                return Ok(first == b'\n');
            }
            Place::Header | Place::Name => {}
        }
        Ok(false)
    }

    fn close(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(mut text) = self.text.take() {
            text.flush(out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Machine for NamedLog {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let mut rest = piece;
        while let Some(first) = rest.first().copied() {
            if first == 0 {
                let was = self.place;
                self.close(out)?;
                self.place = match was {
                    Place::Header => Place::BeforeFirstName,
                    Place::Name => Place::Boundary,
                    _ => Place::AfterEmpty,
                };
                rest = &rest[1..];
                continue;
            }
            if self.byte_begins(first, out)? {
                rest = &rest[1..];
                continue;
            }
            let length = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
            if let Some(text) = self.text.as_mut() {
                text.push(&rest[..length], out)?;
                rest = &rest[length..];
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.close(out)
    }
}

/// `<commit>:<path> NUL <line> NUL <text> LF`.
pub(super) struct Grep {
    prefix: usize,
    skip: usize,
    field: usize,
    text: Escaper,
}

impl Grep {
    pub(super) fn new(prefix: usize) -> Self {
        Self { prefix, skip: prefix, field: 0, text: Escaper::names() }
    }
}

impl Machine for Grep {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let mut rest = piece;
        while !rest.is_empty() {
            let skipped = self.skip.min(rest.len());
            self.skip -= skipped;
            rest = &rest[skipped..];
            let end = if self.field == 2 { b'\n' } else { 0 };
            let length = rest.iter().position(|b| *b == end).unwrap_or(rest.len());
            self.text.push(&rest[..length], out)?;
            rest = &rest[length..];
            if !rest.is_empty() {
                self.text.flush(out)?;
                rest = &rest[1..];
                self.field = (self.field + 1) % 3;
                out.write_all(if self.field == 0 { b"\n" } else { b":" })?;
                self.text = if self.field == 2 { Escaper::lines() } else { Escaper::names() };
                if self.field == 0 {
                    self.skip = self.prefix;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.flush(out)
    }
}
