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
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(String);

impl TaskId {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        let random = u128::from_be_bytes(random::random()?) >> 48;
        let bits = (u128::from(clock::epoch_ms()) << 80) | random;
        let text = (0..LENGTH)
            .rev()
            .map(|at| char::from(ALPHABET[usize::try_from((bits >> (5 * at)) & 31).unwrap_or(0)]))
            .collect();
        Ok(Self(text))
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == LENGTH && text.bytes().all(|b| ALPHABET.contains(&b))).then(|| Self(text.to_owned()))
    }

    /// The id as callers see it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        for id in [ArtifactId::Output(task.clone(), Stream::Stderr), ArtifactId::Banked(task)] {
            assert_eq!(ArtifactId::parse(&id.to_string()), Some(id));
        }
    }
}
