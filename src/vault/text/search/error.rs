//! Why a search can't be made.

use std::io;

use grep_regex::ErrorKind;
use serde_json::json;

use crate::input::quoted;
use crate::limits::{MAX_COMPILED_PATTERN_BYTES, MAX_PATTERN_BYTES};

/// Why a search can't be made. All but the last are `ERR_BAD_PATTERN`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The pattern is no regular expression, or one that can't match inside a line.
    #[error("The pattern {} can't be searched for: {reason}.", quoted(pattern))]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What the engine says, on one line.
        reason: String,
    },
    /// The pattern's text is too long.
    #[error("The pattern has {length} bytes; at most {MAX_PATTERN_BYTES} are allowed.")]
    PatternTooLong {
        /// Its bytes.
        length: usize,
    },
    /// The pattern is short but compiles to too much, as with large repetition counts.
    #[error(
        "The pattern {} needs more than {MAX_COMPILED_PATTERN_BYTES} bytes once compiled.",
        quoted(pattern)
    )]
    PatternTooBig {
        /// The pattern.
        pattern: String,
    },
    /// The stream could not be read.
    #[error("The output could not be read: {0}.")]
    Io(#[from] io::Error),
}

impl SearchError {
    pub(super) fn from_engine(pattern: &str, error: &grep_regex::Error) -> Self {
        let pattern = pattern.to_owned();
        let reason = match error.kind() {
            ErrorKind::Regex(message) if message.contains("size limit") => {
                return Self::PatternTooBig { pattern };
            }
            // The parser draws the pattern and a caret over several lines; the last one says what is wrong.
            ErrorKind::Regex(message) => {
                let last = message.lines().rev().map(str::trim).find(|line| !line.is_empty());
                let last = last.unwrap_or("not a regular expression");
                last.strip_prefix("error:").unwrap_or(last).trim().trim_end_matches('.').to_owned()
            }
            ErrorKind::NotAllowed(_) => "a line never holds a line feed".to_owned(),
            other => format!("{other:?}"),
        };
        Self::BadPattern { pattern, reason }
    }

    /// What the caller can do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::BadPattern { .. } => {
                "Correct the pattern (Rust regex syntax, no look-around or backreferences, one line at a time), or \
                 set literal to true to search for it as plain text."
            }
            Self::PatternTooLong { .. } => "Search for a shorter part of it.",
            Self::PatternTooBig { .. } => "Use smaller repetition counts or fewer alternatives.",
            Self::Io(_) => "Try again, and check the vault's disk if it stays.",
        }
        .to_owned()
    }

    /// What the message is about, by name.
    pub fn details(&self) -> serde_json::Value {
        match self {
            Self::BadPattern { pattern, reason } => json!({ "pattern": pattern, "reason": reason }),
            Self::PatternTooLong { length } => json!({ "length": length, "limit": MAX_PATTERN_BYTES }),
            Self::PatternTooBig { pattern } => {
                json!({ "pattern": pattern, "limit": MAX_COMPILED_PATTERN_BYTES })
            }
            Self::Io(error) => json!({ "errno": error.raw_os_error() }),
        }
    }
}
