//! `git_blame`: always of a commit. Of the working tree it would run filters and follow links.

use super::{Found, Need, Plan, Tool, arguments, id, params, required};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::Revision;
use crate::input::Value;
use crate::limits;

/// Who last changed each line.
#[derive(Debug)]
pub(crate) struct Blame {
    path: String,
    revision: Revision,
    lines: Option<(u64, Option<u64>)>,
}

impl Blame {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let path = fields.field("path");
        let revision = fields.field("ref");
        let start = fields.field("lineStart");
        let end = fields.field("lineEnd");
        fields.finish()?;
        let number = |field: &crate::input::Field<'_>| super::at_most(field, limits::GIT_MAX_LINE);
        let lines = match (number(&start)?, number(&end)?) {
            (None, None) => None,
            (Some(first), None) => Some((first, None)),
            (None, Some(last)) => {
                Some(((last + 1).saturating_sub(limits::GIT_BLAME_SPAN).max(1), Some(last)))
            }
            (Some(first), Some(last)) if last < first => {
                return Err(end.wrong("an integer not below lineStart").into());
            }
            (Some(first), last) => Some((first, last)),
        };
        Ok(Self {
            path: required(&path)?.to_owned(),
            revision: match revision.text()? {
                Some(text) => Revision::parse("ref", text)?,
                None => Revision::head(),
            },
            lines,
        })
    }
}

impl Tool for Blame {
    fn name(&self) -> &'static str {
        "git_blame"
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        let refused = GitError::BadPath { path: self.path.clone(), rule: "must name a file" };
        self.path = scope.confine(&self.path)?.ok_or(refused)?;
        let commit = Need::Commit(self.revision.clone());
        Ok(vec![commit, Need::Entry(0, self.revision.clone(), self.path.clone())])
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        let commit = id(found.first(), &self.revision)?;
        if !matches!(found.get(1), Some(Found::Entry { kind, .. }) if kind == "blob") {
            return Err(GitError::BadPath { path: self.path.clone(), rule: "must name a file" });
        }
        let fixed = [
            "blame",
            "--no-textconv",
            "--no-color-lines",
            "--no-color-by-age",
            "--encoding=UTF-8",
            "--porcelain",
        ];
        let mut line = arguments(&[&fixed]);
        if let Some((first, last)) = self.lines {
            line.push(format!("-L{first},{}", last.map(|last| last.to_string()).unwrap_or_default()));
        }
        // blame rejects --end-of-options on 2.39 and misreads it later; an object id needs none.
        line.extend([commit, "--".into(), self.path.clone()]);
        Ok(Plan::Run { arguments: line, mode: Mode::History, render: Render::Blame })
    }

    fn failure(&self, _exit_code: i32) -> &'static str {
        "(git gave no answer: the line range may lie beyond the end of the file)"
    }
}
