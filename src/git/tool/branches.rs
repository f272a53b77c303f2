//! `git_branches`: local and remote branches, and tags.

use super::{Found, Need, Plan, Tool, arguments, params};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::input::Value;

const KINDS: [(&str, &[&str]); 4] = [
    ("local", &["refs/heads"]),
    ("remote", &["refs/remotes"]),
    ("tags", &["refs/tags"]),
    ("all", &["refs/heads", "refs/remotes", "refs/tags"]),
];

/// Names and what they point at.
#[derive(Debug)]
pub(crate) struct Branches {
    below: &'static [&'static str],
}

impl Branches {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let kind = fields.field("kind");
        fields.finish()?;
        Ok(Self { below: kind.word(&KINDS)?.unwrap_or(&["refs/heads", "refs/remotes"]) })
    }
}

impl Tool for Branches {
    fn name(&self) -> &'static str {
        "git_branches"
    }

    fn prepare(&mut self, _scope: &Scope) -> Result<Vec<Need>, GitError> {
        Ok(vec![])
    }

    fn plan(&self, _found: &[Found]) -> Result<Plan, GitError> {
        // Nothing in it opens an object: names are answered also where commits are missing.
        let format = "--format=%(HEAD) %(objectname) %(refname)%(if)%(upstream)%(then) -> %(upstream)%(end)";
        let line = arguments(&[&["for-each-ref", format, "--"], self.below]);
        Ok(Plan::Run { arguments: line, mode: Mode::History, render: Render::Text })
    }
}
