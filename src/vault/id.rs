//! Names that callers hold: tasks and artifacts. Parsed before they are used, never joined into a path unparsed.

use std::fmt;
use std::io;

use super::layout;
use crate::os::{clock, random};

/// Crockford's base 32, lower case: sorts as its value does, and nothing in it is mistaken for another letter.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 48 bits of milliseconds, then 80 random bits.
const LENGTH: usize = 26;

/// A task's id: sortable by its start, unguessable, and the name of its folder.
///
/// Held inline: a host remembers many that nobody has looked at yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; LENGTH]);

impl TaskId {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        let random = u128::from_be_bytes(random::random()?) >> 48;
        let bits = (u128::from(clock::epoch_ms()) << 80) | random;
        let mut text = [0; LENGTH];
        for (at, letter) in text.iter_mut().rev().enumerate() {
            *letter = ALPHABET[usize::try_from((bits >> (5 * at)) & 31).unwrap_or(0)];
        }
        Ok(Self(text))
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let letters = text.as_bytes().try_into().ok()?;
        text.bytes().all(|b| ALPHABET.contains(&b)).then_some(Self(letters))
    }

    /// When it was made, in milliseconds since the epoch.
    pub fn made_at(&self) -> u64 {
        let value = |letter: &u8| ALPHABET.iter().position(|other| other == letter).unwrap_or(0) as u128;
        let bits = self.0.iter().fold(0_u128, |bits, letter| (bits << 5) | value(letter));
        u64::try_from(bits >> 80).unwrap_or(u64::MAX)
    }

    /// The id as callers see it.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

/// One of a command's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Its name to callers, and in its task's folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => layout::STDOUT,
            Self::Stderr => layout::STDERR,
        }
    }
}

/// What can be read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactId {
    /// A command's output.
    Output(TaskId, Stream),
    /// Something that was banked by itself.
    Banked(TaskId),
}

impl ArtifactId {
    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('-') {
            None => Some(Self::Banked(TaskId::parse(text)?)),
            Some((task, name)) => {
                let stream =
                    [Stream::Stdout, Stream::Stderr].into_iter().find(|stream| stream.name() == name)?;
                Some(Self::Output(TaskId::parse(task)?, stream))
            }
        }
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(task, stream) => write!(f, "{task}-{}", stream.name()),
            Self::Banked(id) => write!(f, "{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_their_time_and_differ() {
        let mut ids = std::collections::HashSet::new();
        let first = TaskId::new().unwrap();
        while TaskId::new().unwrap().as_str()[..10] == first.as_str()[..10] {
            assert!(ids.insert(TaskId::new().unwrap()));
        }
        assert!(TaskId::new().unwrap() > first);
        assert!(clock::epoch_ms().abs_diff(first.made_at()) < 60_000);
        assert_eq!(TaskId::parse(first.as_str()), Some(first));
    }

    #[test]
    fn nothing_that_could_be_a_path_is_an_id() {
        for text in
            ["", ".", "..", "../x", "/etc/passwd", "a/b", "01h", &"0".repeat(27), &"u".repeat(26), "é"]
        {
            assert_eq!(TaskId::parse(text), None, "{text}");
            assert_eq!(ArtifactId::parse(text), None, "{text}");
            assert_eq!(ArtifactId::parse(&format!("{text}-stdout")), None, "{text}");
        }
    }

    #[test]
    fn artifact_ids_survive_their_own_text() {
        let task = TaskId::new().unwrap();
        for id in [ArtifactId::Output(task, Stream::Stderr), ArtifactId::Banked(task)] {
            assert_eq!(ArtifactId::parse(&id.to_string()), Some(id));
        }
    }
}
