//! `git_show`: a commit, a tag, a tree or a file, by whatever names it.

use super::{
    CHANGES, COMMIT_FORMAT, COMMITS, Found, MERGES, NAMED_FORMAT, Need, POINTERS, Plan, Tool, arguments,
    finish, id, params, required,
};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::Revision;
use crate::input::Value;

/// One object.
#[derive(Debug)]
pub(crate) struct Show {
    revision: Revision,
    /// The path behind the colon of `rev:path`; `None` without a colon.
    inside: Option<String>,
    path: Option<String>,
    name_only: bool,
}

impl Show {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let revision = fields.field("ref");
        let path = fields.field("path");
        let name_only = fields.field("nameOnly");
        fields.finish()?;
        let text = required(&revision)?;
        let (name, inside) = match text.split_once(':') {
            Some((name, inside)) => (name, Some(inside.to_owned())),
            None => (text, None),
        };
        let path = path.text()?.map(str::to_owned);
        if inside.is_some() && path.is_some() {
            let rule = "must not hold a path when path is given";
            return Err(GitError::BadValue { name: "ref", value: text.to_owned(), rule });
        }
        let revision = Revision::parse("ref", name).map_err(|error| match error {
            GitError::BadRevision { .. } => Revision::refusal(text),
            other => other,
        })?;
        Ok(Self { revision, inside, path, name_only: name_only.flag()?.unwrap_or(false) })
    }
}

impl Tool for Show {
    fn name(&self) -> &'static str {
        "git_show"
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        let Some(inside) = self.inside.as_deref() else {
            return Ok(vec![Need::Object(self.revision.clone()), Need::Kind(0)]);
        };
        let mut needs = vec![Need::Commit(self.revision.clone())];
        let inside = if inside.is_empty() { None } else { scope.confine(inside)? };
        needs.extend(inside.map(|path| Need::Entry(0, self.revision.clone(), path)));
        Ok(needs)
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        let id = id(found.first(), &self.revision)?;
        match (&self.inside, found.get(1)) {
            (Some(_), None) => Ok(tree(&id)),
            (_, Some(Found::Entry { kind, id })) => Ok(content(kind, id)),
            (_, Some(Found::Kind(kind))) if kind == "tree" || kind == "blob" => Ok(content(kind, &id)),
            _ => {
                let (own, render): (&[&str], _) = if self.name_only {
                    (&["--name-only", "-z", NAMED_FORMAT], Render::NamedLog)
                } else {
                    (&["--patch", COMMIT_FORMAT], Render::Raw)
                };
                let mut line = arguments(&[&["show"], &CHANGES, &[POINTERS, MERGES], &COMMITS, own]);
                finish(&mut line, &[id], self.path.as_deref());
                Ok(Plan::Run { arguments: line, mode: Mode::History, render })
            }
        }
    }
}

/// What an object that is no commit holds.
pub(super) fn content(kind: &str, id: &str) -> Plan {
    match kind {
        "tree" => tree(id),
        "blob" => {
            let line = arguments(&[&["cat-file", "blob", id]]);
            Plan::Run { arguments: line, mode: Mode::History, render: Render::Raw }
        }
        _ => Plan::Say("(a submodule: its content is in a repository of its own)"),
    }
}

fn tree(id: &str) -> Plan {
    let format = "--format=%(objectmode) %(objecttype) %(objectname) %(path)";
    Plan::Run {
        arguments: arguments(&[&["ls-tree", "-z", "--full-tree", format, id]]),
        mode: Mode::History,
        render: Render::Records,
    }
}
