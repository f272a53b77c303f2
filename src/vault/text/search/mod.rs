//! Searching a stream with ripgrep's engine: time linear in the stream, memory and result bounded.
//!
//! Lines end at line feeds alone; a carriage return before one is not part of the text. For `^`, `$` and `.` a carriage
//! return is the edge of a line too, so `$` means the same with either line ending and each state of a progress line
//! can be matched. Bytes are searched as they are: NULs stop nothing, and what is no UTF-8 shows as U+FFFD.

mod collect;
mod error;
mod excerpt;
mod pieces;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, SearcherBuilder};
use serde::Serialize;

use self::collect::Collector;
pub use self::error::SearchError;
use self::pieces::{Cuts, Pieces};
use super::decode::{self, MAX_CHAR};
use super::index::{Tail, TextIndex};
use crate::limits;

/// What to look for. Numbers above their ceilings are lowered to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// A regular expression in the syntax of Rust's `regex` crate, or plain text if `literal`.
    pub pattern: String,
    /// Take the pattern as plain text.
    pub literal: bool,
    /// Match upper and lower case alike.
    pub ignore_case: bool,
    /// Lines to show before each match.
    pub before: u64,
    /// Lines to show after each match.
    pub after: u64,
    /// Most matching lines to return, at least 1.
    pub max_matches: u64,
}

impl SearchRequest {
    /// A regular expression, everything else by default.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            literal: false,
            ignore_case: false,
            before: 0,
            after: 0,
            max_matches: limits::DEFAULT_SEARCH_MATCHES,
        }
    }
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// Its number, from 1.
    pub line: u64,
    /// Where its text starts, in UTF-16 units: a text page from here on begins with it. That is the line's start, or
    /// in a line cut at the front, where a leading `…` in `text` stands for what comes before.
    pub offset: u64,
    /// The line; one of more than [`limits::MAX_SEARCH_LINE_UNITS`] is cut around the first match, `…` marks the cuts.
    pub text: String,
    /// The lines before it, the nearest last.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

/// What a search found, in the order of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Matching lines.
    pub matches: Vec<Match>,
    /// Whether the result is not all: there are more matches than asked for or than a result may hold
    /// ([`limits::MAX_SEARCH_UNITS`]), or the time was up ([`limits::MAX_SEARCH_MS`]).
    pub truncated: bool,
}

/// Searches what `stream` holds now.
///
/// A line longer than [`limits::SEARCH_PIECE_BYTES`] is searched in pieces of about that size, as though each were a
/// line of its own, all with the line's number: a match across two pieces is not found, and `^` and `$` match at
/// their edges.
pub fn search(
    stream: &File,
    index: &mut TextIndex,
    tail: Tail,
    request: &SearchRequest,
) -> Result<SearchResult, SearchError> {
    search_until(stream, index, tail, request, Instant::now() + Duration::from_millis(limits::MAX_SEARCH_MS))
}

fn search_until(
    stream: &File,
    index: &mut TextIndex,
    tail: Tail,
    request: &SearchRequest,
    deadline: Instant,
) -> Result<SearchResult, SearchError> {
    let matcher = matcher(request)?;
    let before = usize::try_from(request.before.min(limits::MAX_SEARCH_CONTEXT)).unwrap_or(0);
    let after = usize::try_from(request.after.min(limits::MAX_SEARCH_CONTEXT)).unwrap_or(0);
    // By reading: a mapping of a file that someone cuts short kills the process.
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(before)
        .after_context(after)
        .binary_detection(BinaryDetection::none())
        .bom_sniffing(false)
        .memory_map(MmapChoice::never())
        .heap_limit(Some(limits::SEARCH_HEAP_BYTES))
        .build();

    let cuts = RefCell::new(Cuts::default());
    let pieces = Pieces::new(stream, end(stream, tail)?, deadline, &cuts);
    let mut collector = Collector::new(&matcher, stream, index, &cuts, request);
    searcher.search_reader(&matcher, pieces, &mut collector)?;
    let mut result = collector.finish();
    result.truncated |= cuts.borrow().out_of_time;
    Ok(result)
}

fn matcher(request: &SearchRequest) -> Result<RegexMatcher, SearchError> {
    let length = request.pattern.len();
    if length > limits::MAX_PATTERN_BYTES {
        return Err(SearchError::PatternTooLong { length });
    }
    RegexMatcherBuilder::new()
        .multi_line(true)
        // The anchors of CRLF, then the line feed alone as what ends a line: in this order.
        .crlf(true)
        .line_terminator(Some(b'\n'))
        .fixed_strings(request.literal)
        .case_insensitive(request.ignore_case)
        .size_limit(limits::MAX_COMPILED_PATTERN_BYTES)
        .dfa_size_limit(limits::MAX_COMPILED_PATTERN_BYTES)
        .build(&request.pattern)
        .map_err(|error| SearchError::from_engine(&request.pattern, &error))
}

/// How far the stream is searched: while it grows, without an unfinished character at its end.
fn end(stream: &File, tail: Tail) -> std::io::Result<u64> {
    let len = stream.metadata()?.len();
    if tail == Tail::Final {
        return Ok(len);
    }
    let mut last = [0; MAX_CHAR - 1];
    let from = len.saturating_sub(last.len() as u64);
    let read = stream.read_at(&mut last, from)?;
    Ok(len - decode::unfinished(&last[..read]) as u64)
}

#[cfg(test)]
mod tests;
