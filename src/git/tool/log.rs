//! `git_log`.

use super::super::since;
use super::{
    CHANGES, COMMIT_FORMAT, COMMITS, Found, MERGES, NAMED_FORMAT, NO_MERGES, Need, POINTERS, Plan, Tool,
    arguments, at_most, finish, id, params, search,
};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::{Range, Revision};
use crate::input::Value;
use crate::limits;

/// How commits are shown. The words are the model's, the format strings ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Oneline,
    Full,
    Stat,
    NameOnly,
}

const FORMATS: [(&str, Format); 4] = [
    ("oneline", Format::Oneline),
    ("full", Format::Full),
    ("stat", Format::Stat),
    ("name-only", Format::NameOnly),
];

/// Commits, newest first.
#[derive(Debug)]
pub(crate) struct Log {
    range: Range,
    path: Option<String>,
    max_count: u64,
    since: Option<String>,
    format: Format,
    author: Option<String>,
    pickaxe: Option<String>,
    follow: bool,
}

impl Log {
    pub(crate) fn parse(value: &Value, extended: bool) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let revision = fields.field("ref");
        let path = fields.field("path");
        let count = fields.field("maxCount");
        let since = fields.field("since");
        let format = fields.field("format");
        let extras =
            extended.then(|| (fields.field("author"), fields.field("pickaxe"), fields.field("follow")));
        fields.finish()?;
        let range = match revision.text()? {
            Some(text) => Range::parse("ref", text)?,
            None => Range::One(Revision::head()),
        };
        let mut log = Self {
            range,
            path: path.text()?.map(str::to_owned),
            max_count: at_most(&count, limits::GIT_MAX_COUNT)?.unwrap_or(limits::GIT_DEFAULT_MAX_COUNT),
            since: since.text()?.map(since::parse).transpose()?,
            format: format.word(&FORMATS)?.unwrap_or(Format::Oneline),
            author: None,
            pickaxe: None,
            follow: false,
        };
        if let Some((author, pickaxe, follow)) = extras {
            log.author = search(&author, "author")?.map(str::to_owned);
            log.pickaxe = search(&pickaxe, "pickaxe")?.map(str::to_owned);
            log.follow = follow.flag()?.unwrap_or(false);
            if log.follow && log.path.is_none() {
                return Err(follow.wrong("given together with path").into());
            }
        }
        Ok(log)
    }
}

impl Tool for Log {
    fn name(&self) -> &'static str {
        "git_log"
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        Ok(match &self.range {
            Range::One(one) => vec![Need::Commit(one.clone())],
            Range::Between(from, to) | Range::Symmetric(from, to) => {
                vec![Need::Commit(from.clone()), Need::Commit(to.clone())]
            }
        })
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        if matches!((&self.range, found), (Range::One(_), [Found::Unborn])) {
            return Ok(Plan::Say("(no commits yet)"));
        }
        let revisions = match &self.range {
            Range::One(one) => id(found.first(), one)?,
            Range::Between(from, to) => format!("{}..{}", id(found.first(), from)?, id(found.get(1), to)?),
            Range::Symmetric(from, to) => format!("{}...{}", id(found.first(), from)?, id(found.get(1), to)?),
        };
        let (own, render): (&[&str], _) = match self.format {
            Format::Oneline => (&["--no-patch", "--format=%h %aI %an: %s"], Render::Text),
            Format::Full => (&["--no-patch", COMMIT_FORMAT], Render::Text),
            Format::Stat => (&["--stat=100", COMMIT_FORMAT], Render::Text),
            Format::NameOnly => (&["--name-only", "-z", NAMED_FORMAT], Render::NamedLog),
        };
        let lists_changes = matches!(self.format, Format::Stat | Format::NameOnly);
        let merges = if lists_changes && self.path.is_none() { MERGES } else { NO_MERGES };
        let mut line = arguments(&[&["log"], &CHANGES, &[POINTERS, merges], &COMMITS, own]);
        line.push(format!("-n{}", self.max_count));
        line.extend(self.since.iter().map(|since| format!("--since={since}")));
        if let Some(author) = &self.author {
            line.extend([
                "--fixed-strings".into(),
                "--regexp-ignore-case".into(),
                format!("--author={author}"),
            ]);
        }
        line.extend(self.pickaxe.iter().map(|text| format!("-S{text}")));
        if self.follow && self.path.is_some() {
            line.push("--follow".into());
        }
        finish(&mut line, &[revisions], self.path.as_deref());
        Ok(Plan::Run { arguments: line, mode: Mode::History, render })
    }
}
