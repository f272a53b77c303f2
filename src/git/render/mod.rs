//! From git's bytes to the text that is kept, as a stream: an answer may be as large as the output cap.

mod blame;
mod escape;
mod preview;
mod records;

use std::io::{self, Read, Write};

pub(crate) use preview::Preview;
pub use preview::{Shown, preview_of};

use escape::Escaper;

/// How a command's output becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Render {
    /// git's own bytes: patches and file contents.
    Raw,
    /// Lines, with control characters escaped.
    Text,
    /// NUL-separated records, one a line; a newline inside one is escaped too.
    Records,
    /// `ls-files -v -z`: paths, and behind a tab what keeps git from looking at one.
    Tracked,
    /// Commits in text, each after a NUL, with NUL-separated names behind.
    NamedLog,
    /// `blame --porcelain`, one line a line.
    Blame,
    /// `grep -n -z` of a commit.
    Grep {
        /// Bytes before each path: the commit and a colon.
        prefix: usize,
    },
}

/// A stage between git's output and what is kept.
trait Machine {
    /// Takes a piece of the input, of any length.
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()>;
    /// Takes the end of the input.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

impl Render {
    /// Renders all of `raw` into `out`.
    pub(crate) fn run(self, raw: &mut dyn Read, out: &mut dyn Write) -> io::Result<()> {
        let mut machine: Box<dyn Machine> = match self {
            Self::Raw => return io::copy(raw, out).map(|_| ()),
            Self::Text => Box::new(records::Lines(Escaper::lines())),
            Self::Records => Box::new(records::Records(Escaper::names())),
            Self::Tracked => Box::new(records::Tracked::default()),
            Self::NamedLog => Box::new(records::NamedLog::default()),
            Self::Blame => Box::new(blame::Blame::default()),
            Self::Grep { prefix } => Box::new(records::Grep::new(prefix)),
        };
        let mut chunk = vec![0; crate::limits::CAPTURE_CHUNK];
        loop {
            match raw.read(&mut chunk) {
                Ok(0) => return machine.end(out),
                Ok(count) => machine.feed(&chunk[..count], out)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders `input` in pieces of each size: a cut must never show.
    fn rendered(render: Render, input: &[u8]) -> String {
        let mut results = Vec::new();
        for size in [1, 2, 3, 7, 4096] {
            struct Slow<'a>(&'a [u8], usize);
            impl Read for Slow<'_> {
                fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    let count = self.1.min(self.0.len()).min(buffer.len());
                    buffer[..count].copy_from_slice(&self.0[..count]);
                    self.0 = &self.0[count..];
                    Ok(count)
                }
            }
            let mut out = Vec::new();
            render.run(&mut Slow(input, size), &mut out).unwrap();
            results.push(String::from_utf8(out).unwrap());
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
        results.swap_remove(0)
    }

    #[test]
    fn text_keeps_lines_and_escapes_what_a_terminal_would_obey() {
        let input = "a\tb\r\n\u{1b}[31mé\u{85}\u{202e}\rx\n".as_bytes();
        assert_eq!(rendered(Render::Text, input), "a\tb\r\n\\x1b[31mé\\x85\\u202e\\x0dx\n");
        assert_eq!(rendered(Render::Text, b"\xff\xc3"), "\\xff\\xc3");
    }

    #[test]
    fn records_are_one_a_line_whatever_is_in_them() {
        assert_eq!(rendered(Render::Records, b"a\nb\0caf\xc3\xa9\0\xe9\t\0"), "a\\nb\ncafé\n\\xe9\\t\n");
    }

    #[test]
    fn a_path_that_git_does_not_look_at_is_marked() {
        let input = b"H a b\0h c\0S d\te\0s f\0";
        let expected = "a b\nc\t(assume-unchanged)\nd\\te\t(skip-worktree)\nf\t(skip-worktree)\n";
        assert_eq!(rendered(Render::Tracked, input), expected);
    }

    #[test]
    fn a_file_name_cannot_pass_for_a_commit() {
        let input = b"\0commit 1\n    text\n\0\ncommit 2\n\0\n\nodd\0\0commit 3\n\0";
        assert_eq!(
            rendered(Render::NamedLog, input),
            "commit 1\n    text\n\n\tcommit 2\\n\n\t\\n\\nodd\n\ncommit 3\n\n"
        );
    }

    #[test]
    fn grep_answers_path_line_and_text() {
        let input = b"abc:a\nb\x007\0text\x1b\nabc:c\x008\0x\n";
        assert_eq!(rendered(Render::Grep { prefix: 4 }, input), "a\\nb:7:text\\x1b\nc:8:x\n");
    }

    #[test]
    fn blame_has_one_line_for_each() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let input = format!(
            "{id} 1 1 2\nauthor A\x1b B\nauthor-mail <a>\nauthor-time 0\nauthor-tz +0130\nsummary s\n\
             boundary\nfilename f\n\tone\n{id} 2 2\n\ttwo\r\n"
        );
        assert_eq!(
            rendered(Render::Blame, input.as_bytes()),
            "01234567 1970-01-01T01:30:00+01:30 A\\x1b B 1) one\n\
             01234567 1970-01-01T01:30:00+01:30 A\\x1b B 2) two\r\n"
        );
    }
}
