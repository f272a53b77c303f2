//! `runGitCommand`: arguments of the host's own code, in the same surroundings.
//!
//! The shadow borrows the repository's references: a subcommand that writes would move them to objects that vanish
//! with the shadow. So only subcommands that read are taken.

use super::{CHANGES, COMMITS, Found, MERGES, NO_SUBMODULES, Need, Plan, Tool, arguments};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::input::{Field, Value};
use crate::limits;

/// Subcommands that read, with the flags that hold them to plain output.
const READING: [(&str, &[&[&str]]); 26] = [
    ("blame", &[&["--no-textconv", "--no-color-lines", "--no-color-by-age"]]),
    ("cat-file", &[]),
    ("check-attr", &[]),
    ("check-ignore", &[]),
    ("cherry", &[]),
    ("count-objects", &[]),
    ("describe", &[]),
    ("diff", &[&CHANGES, &[NO_SUBMODULES]]),
    ("diff-files", &[&CHANGES, &[NO_SUBMODULES]]),
    ("diff-index", &[&CHANGES, &[NO_SUBMODULES]]),
    ("diff-tree", &[&CHANGES, &[NO_SUBMODULES]]),
    ("for-each-ref", &[]),
    ("grep", &[&["--no-textconv", "--no-recurse-submodules", "--no-color"]]),
    ("log", &[&CHANGES, &[NO_SUBMODULES, MERGES], &COMMITS]),
    ("ls-files", &[]),
    ("ls-tree", &[]),
    ("merge-base", &[]),
    ("name-rev", &[]),
    ("range-diff", &[&["--no-ext-diff", "--no-textconv", "--no-color"]]),
    ("rev-list", &[]),
    ("rev-parse", &[]),
    ("shortlog", &[]),
    ("show", &[&CHANGES, &[NO_SUBMODULES, MERGES], &COMMITS]),
    ("show-ref", &[]),
    ("status", &[&["--ignore-submodules=all"]]),
    ("version", &[]),
];

/// A command line of the host.
#[derive(Debug)]
pub(crate) struct Command {
    fixed: &'static [&'static [&'static str]],
    arguments: Vec<String>,
    bare: bool,
}

impl Command {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let field = Field::argument("args", value);
        let list = field.list()?.filter(|list| !list.is_empty() && list.len() <= limits::GIT_MAX_ARGS);
        let list = list.ok_or_else(|| field.wrong("a non-empty array of strings"))?;
        let mut arguments = Vec::with_capacity(list.len());
        for (at, item) in list.iter().enumerate() {
            let item = Field::argument(format!("args[{at}]"), item);
            arguments.push(super::required(&item)?.to_owned());
        }
        let Some((_, fixed)) = READING.iter().find(|(name, _)| *name == arguments[0]) else {
            let rule = "must be a subcommand of git that reads, such as log, show, diff or rev-parse";
            return Err(GitError::BadValue { name: "args[0]", value: arguments.swap_remove(0), rule });
        };
        Ok(Self { fixed, arguments, bare: false })
    }
}

impl Tool for Command {
    fn name(&self) -> &'static str {
        "runGitCommand"
    }

    fn needs_index(&self) -> bool {
        true
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        self.bare = scope.bare;
        Ok(vec![])
    }

    fn plan(&self, _found: &[Found]) -> Result<Plan, GitError> {
        let mut line = vec![self.arguments[0].clone()];
        line.extend(arguments(self.fixed));
        line.extend_from_slice(&self.arguments[1..]);
        let mode = if self.bare { Mode::History } else { Mode::WorkTree };
        Ok(Plan::Run { arguments: line, mode, render: Render::Raw })
    }
}
