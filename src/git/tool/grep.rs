//! `git_grep`: searches the files of a commit.

use super::{Found, Need, Plan, Tool, arguments, id, params, search};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::Revision;
use crate::input::Value;

/// A search.
#[derive(Debug)]
pub(crate) struct Grep {
    pattern: String,
    revision: Revision,
    path: Option<String>,
    ignore_case: bool,
    literal: bool,
}

impl Grep {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let pattern = fields.field("pattern");
        let revision = fields.field("ref");
        let path = fields.field("path");
        let ignore_case = fields.field("ignoreCase");
        let literal = fields.field("literal");
        fields.finish()?;
        Ok(Self {
            pattern: search(&pattern, "pattern")?.ok_or_else(|| pattern.wrong("a string"))?.to_owned(),
            revision: match revision.text()? {
                Some(text) => Revision::parse("ref", text)?,
                None => Revision::head(),
            },
            path: path.text()?.map(str::to_owned),
            ignore_case: ignore_case.flag()?.unwrap_or(false),
            literal: literal.flag()?.unwrap_or(false),
        })
    }
}

impl Tool for Grep {
    fn name(&self) -> &'static str {
        "git_grep"
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        Ok(vec![Need::Commit(self.revision.clone())])
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        if matches!(found, [Found::Unborn]) {
            return Ok(Plan::Say("(no commits yet)"));
        }
        let commit = id(found.first(), &self.revision)?;
        let prefix = commit.len() + 1;
        let fixed = [
            "grep",
            "--no-textconv",
            "--no-recurse-submodules",
            "--no-color",
            "-I",
            "-n",
            "-z",
            "--full-name",
        ];
        let mut line = arguments(&[&fixed]);
        line.push(if self.literal { "--fixed-strings" } else { "--extended-regexp" }.into());
        if self.ignore_case {
            line.push("--ignore-case".into());
        }
        line.push(format!("-e{}", self.pattern));
        // grep of 2.39 takes --end-of-options for a revision; an object id needs none.
        line.extend([commit, "--".into()]);
        line.extend(self.path.clone());
        Ok(Plan::Run { arguments: line, mode: Mode::History, render: Render::Grep { prefix } })
    }

    fn failure(&self, exit_code: i32) -> &'static str {
        if exit_code == 1 {
            "(no match)"
        } else {
            "(git gave no answer: the pattern may not be a regular expression)"
        }
    }
}
