//! Gathers what the engine reports into matches that carry their own context.
//!
//! The engine reports each line once, although it may be context of several matches, or a match and context of others.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::super::decode::{self, Mark};
use super::super::index::TextIndex;
use super::excerpt::{excerpt, without_end};
use super::pieces::Cuts;
use super::{Match, SearchRequest, SearchResult};
use crate::limits::{MAX_SEARCH_CONTEXT, MAX_SEARCH_MATCHES, MAX_SEARCH_UNITS};

pub(super) struct Collector<'a> {
    matcher: &'a RegexMatcher,
    stream: &'a File,
    index: &'a mut TextIndex,
    cuts: &'a RefCell<Cuts>,
    before: u64,
    after: u64,
    max_matches: u64,
    found: Vec<Found>,
    /// The last lines reported, at most `before`.
    recent: VecDeque<(u64, String)>,
    /// UTF-16 units that the result may still take.
    room: u64,
    last_mark: Mark,
    truncated: bool,
}

/// A match with its number as the engine counts lines, in which pieces are lines.
struct Found {
    number: u64,
    result: Match,
}

/// The result has no room for more.
struct Full;

impl<'a> Collector<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        stream: &'a File,
        index: &'a mut TextIndex,
        cuts: &'a RefCell<Cuts>,
        request: &SearchRequest,
    ) -> Self {
        Self {
            matcher,
            stream,
            index,
            cuts,
            before: request.before.min(MAX_SEARCH_CONTEXT),
            after: request.after.min(MAX_SEARCH_CONTEXT),
            max_matches: request.max_matches.clamp(1, MAX_SEARCH_MATCHES),
            found: Vec::new(),
            recent: VecDeque::new(),
            room: MAX_SEARCH_UNITS,
            last_mark: Mark::default(),
            truncated: false,
        }
    }

    pub(super) fn finish(self) -> SearchResult {
        let matches = self.found.into_iter().map(|found| found.result).collect();
        SearchResult { matches, truncated: self.truncated }
    }

    /// Gives a line to the matches before it, then keeps it for those to come. Says whether to go on.
    fn pass_on(&mut self, number: u64, text: String) -> bool {
        let after = self.after;
        for found in self.found.iter_mut().rev().take_while(|found| number - found.number <= after) {
            if take_room(&mut self.room, &text).is_err() {
                self.truncated = true;
                return false;
            }
            found.result.after.push(text.clone());
        }
        if self.before > 0 {
            if self.recent.len() as u64 == self.before {
                self.recent.pop_front();
            }
            self.recent.push_back((number, text));
        }
        // A match too many was seen: what remains is the context of the last.
        !self.truncated || self.found.last().is_some_and(|last| number < last.number + after)
    }

    /// The lines right before the line `number`, if they and `text` fit.
    fn context_before(&mut self, number: u64, text: &str) -> Result<Vec<String>, Full> {
        take_room(&mut self.room, text)?;
        let first = number.saturating_sub(self.before);
        let mut before = Vec::new();
        for (_, text) in self.recent.iter().filter(|(number, _)| *number >= first) {
            take_room(&mut self.room, text)?;
            before.push(text.clone());
        }
        Ok(before)
    }
}

fn take_room(room: &mut u64, text: &str) -> Result<(), Full> {
    *room = room.checked_sub(decode::units(text) as u64).ok_or(Full)?;
    Ok(())
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        let number = line.line_number().unwrap_or_default();
        let bytes = without_end(line.bytes());
        let focus = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let shown = excerpt(bytes, focus);
        if self.found.len() as u64 == self.max_matches {
            self.truncated = true;
            return Ok(self.pass_on(number, shown.text));
        }
        let Ok(before) = self.context_before(number, &shown.text) else {
            self.truncated = true;
            return Ok(false);
        };
        let engine_position = line.absolute_byte_offset();
        let cuts = self.cuts.borrow_mut().before(engine_position);
        let position = engine_position - cuts + shown.start;
        self.last_mark = self.index.mark_at(self.stream, position, self.last_mark)?;

        let go_on = self.pass_on(number, shown.text.clone());
        let result = Match {
            line: number - cuts,
            offset: self.last_mark.units,
            text: shown.text,
            before,
            after: Vec::new(),
        };
        self.found.push(Found { number, result });
        Ok(go_on)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        let text = excerpt(without_end(line.bytes()), 0).text;
        Ok(self.pass_on(line.line_number().unwrap_or_default(), text))
    }
}
