//! `git_ls_files`: what the index tracks.

use super::{Found, Need, Plan, Tool, arguments, params};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::input::Value;

/// Tracked paths.
#[derive(Debug)]
pub(crate) struct LsFiles {
    path: Option<String>,
}

impl LsFiles {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let path = fields.field("path");
        fields.finish()?;
        Ok(Self { path: path.text()?.map(str::to_owned) })
    }
}

impl Tool for LsFiles {
    fn name(&self) -> &'static str {
        "git_ls_files"
    }

    fn needs_index(&self) -> bool {
        true
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        Ok(vec![])
    }

    fn plan(&self, _found: &[Found]) -> Result<Plan, GitError> {
        let mut line = arguments(&[&["ls-files", "-v", "-z", "--"]]);
        line.extend(self.path.clone());
        Ok(Plan::Run { arguments: line, mode: Mode::History, render: Render::Tracked })
    }
}
