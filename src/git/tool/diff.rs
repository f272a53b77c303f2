//! `git_diff`: two commits, or the working tree against one or against the index.

use super::{CHANGES, Found, NO_SUBMODULES, Need, POINTERS, Plan, Tool, arguments, finish, id, params};
use crate::git::error::GitError;
use crate::git::invocation::Mode;
use crate::git::path::Scope;
use crate::git::render::Render;
use crate::git::revision::{Range, Revision};
use crate::input::Value;
use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Patch,
    Names,
    Stat,
}

/// A comparison.
#[derive(Debug)]
pub(crate) struct Diff {
    /// `None` compares the working tree with the index; one end, with a commit.
    ends: Option<Range>,
    path: Option<String>,
    shape: Shape,
    unified: u64,
}

impl Diff {
    pub(crate) fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = params(value)?;
        let base = fields.field("base");
        let head = fields.field("head");
        let path = fields.field("path");
        let name_only = fields.field("nameOnly");
        let stat = fields.field("stat");
        let unified = fields.field("unified");
        fields.finish()?;
        let ends = match (base.text()?, head.text()?) {
            (None, None) => None,
            (None, Some(head)) => {
                Revision::parse("head", head)?;
                return Err(GitError::NeedsBase);
            }
            (Some(base), None) => Some(Range::parse("base", base)?),
            (Some(base), Some(head)) => {
                Some(Range::Between(Revision::parse("base", base)?, Revision::parse("head", head)?))
            }
        };
        let shape = match (name_only.flag()?.unwrap_or(false), stat.flag()?.unwrap_or(false)) {
            (true, true) => return Err(stat.wrong("left out when nameOnly is given").into()),
            (true, false) => Shape::Names,
            (false, true) => Shape::Stat,
            (false, false) => Shape::Patch,
        };
        let unified = unified.unsigned_integer()?.map(|lines| lines.min(limits::GIT_MAX_UNIFIED));
        Ok(Self {
            ends,
            path: path.text()?.map(str::to_owned),
            shape,
            unified: unified.unwrap_or(limits::GIT_DEFAULT_UNIFIED),
        })
    }
}

impl Tool for Diff {
    fn name(&self) -> &'static str {
        "git_diff"
    }

    fn needs_index(&self) -> bool {
        matches!(self.ends, None | Some(Range::One(_)))
    }

    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError> {
        if scope.bare && self.needs_index() {
            return Err(GitError::NeedsWorkTree { tool: self.name() });
        }
        self.path = self.path.as_deref().map(|path| scope.confine(path)).transpose()?.flatten();
        Ok(match &self.ends {
            None => vec![],
            Some(Range::One(one)) => vec![Need::Commit(one.clone())],
            Some(Range::Between(a, b)) => vec![Need::Commit(a.clone()), Need::Commit(b.clone())],
            Some(Range::Symmetric(a, b)) => {
                vec![Need::Commit(a.clone()), Need::Commit(b.clone()), Need::MergeBase(0, 1)]
            }
        })
    }

    fn plan(&self, found: &[Found]) -> Result<Plan, GitError> {
        let (ids, mode) = match &self.ends {
            None => (vec![], Mode::WorkTree),
            Some(Range::One(one)) => (vec![id(found.first(), one)?], Mode::WorkTree),
            Some(Range::Between(a, b)) => (vec![id(found.first(), a)?, id(found.get(1), b)?], Mode::History),
            Some(Range::Symmetric(_, b)) => {
                if matches!(found.get(2), Some(Found::Unrelated)) {
                    return Ok(Plan::Say("(no common ancestor)"));
                }
                (vec![id(found.get(2), b)?, id(found.get(1), b)?], Mode::History)
            }
        };
        let (own, render): (&[&str], _) = match self.shape {
            Shape::Patch => (&["--patch"], Render::Raw),
            Shape::Names => (&["--name-only", "-z"], Render::Records),
            Shape::Stat => (&["--stat=100"], Render::Text),
        };
        let submodules = if mode == Mode::History { POINTERS } else { NO_SUBMODULES };
        let mut line = arguments(&[&["diff"], &CHANGES, &[submodules], own]);
        if self.shape == Shape::Patch {
            line.push(format!("--unified={}", self.unified));
        }
        finish(&mut line, &ids, self.path.as_deref());
        Ok(Plan::Run { arguments: line, mode, render })
    }
}
