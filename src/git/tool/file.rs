//! `git_file`: a file as a commit has it.

use super::{Found, Need, Plan, Tool, params, required};
use crate::git::error::GitError;
use crate::git::path::Scope;
use crate::git::revision::Revision;
use crate::input::Value;

/// A file's bytes, or a directory's entries.
#[derive(Debug)]
pub(crate) struct File {
    revision: Revision,
    path: String,
}

impl File {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let revision = fields.field("ref");
        let path = fields.field("path");
        fields.finish()?;
        let revision = Revision::parse("ref", required(&revision)?)?;
        Ok(Self { revision, path: required(&path)?.to_owned() })
    }
}

impl Tool for File {
    fn name(&self) -> &'static str {
        "git_file"
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        let refused = GitError::BadPath { path: self.path.clone(), rule: "must name a file" };
        let path = scope.confine(&self.path)?.ok_or(refused)?;
        Ok(vec![Need::Commit(self.revision.clone()), Need::Entry(0, self.revision.clone(), path)])
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        match found.get(1) {
            Some(Found::Entry { kind, id }) => Ok(super::show::content(kind, id)),
            _ => Err(Revision::refusal(self.revision.as_str())),
        }
    }
}
