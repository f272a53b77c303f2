//! `git_status`.

use super::{Found, Need, Plan, Tool, arguments, params};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::input::Value;

/// What differs between HEAD, the index and the working tree.
#[derive(Debug)]
pub(crate) struct Status {
    path: Option<String>,
}

impl Status {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let path = fields.field("path");
        fields.finish()?;
        Ok(Self { path: path.text()?.map(str::to_owned) })
    }
}

impl Tool for Status {
    fn name(&self) -> &'static str {
        "git_status"
    }

    fn needs_index(&self) -> bool {
        true
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        if scope.bare {
            return Err(GitError::NeedsWorkTree { tool: self.name() });
        }
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        Ok(vec![])
    }

    fn plan(&self, _found: &[Found]) -> Result<Plan, GitError> {
        let fixed = [
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--ignore-submodules=all",
            "--untracked-files=normal",
            "--",
        ];
        let mut line = arguments(&[&fixed]);
        line.extend(self.path.clone());
        Ok(Plan::Run { arguments: line, mode: Mode::WorkTree, render: Render::Records })
    }
}
