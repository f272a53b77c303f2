//! `git_merge_base`.

use super::{Found, Need, Plan, Tool, arguments, id, params, required};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::Revision;
use crate::input::Value;

/// The best common ancestor of two commits.
#[derive(Debug)]
pub(crate) struct MergeBase {
    base: Revision,
    head: Revision,
}

impl MergeBase {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let base = fields.field("base");
        let head = fields.field("head");
        fields.finish()?;
        Ok(Self {
            base: Revision::parse("base", required(&base)?)?,
            head: Revision::parse("head", required(&head)?)?,
        })
    }
}

impl Tool for MergeBase {
    fn name(&self) -> &'static str {
        "git_merge_base"
    }

    fn prepare(&mut self, _scope: &Scope) -> Result<Vec<Need>, GitError> {
        Ok(vec![Need::Commit(self.base.clone()), Need::Commit(self.head.clone())])
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        let (base, head) = (id(found.first(), &self.base)?, id(found.get(1), &self.head)?);
        let line = arguments(&[&["merge-base", "--end-of-options", &base, &head]]);
        Ok(Plan::Run { arguments: line, mode: Mode::History, render: Render::Text })
    }

    fn failure(&self, exit_code: i32) -> &'static str {
        if exit_code == 1 { "(no common ancestor)" } else { "(git ended with an error and no output)" }
    }
}
