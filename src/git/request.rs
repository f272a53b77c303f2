//! Questions: the name of a tool with its parameters, checked as far as that goes without the repository.

use super::error::GitError;
use super::options::Extra;
use super::tool::Tool;
use super::tool::blame::Blame;
use super::tool::branches::Branches;
use super::tool::command::Command;
use super::tool::diff::Diff;
use super::tool::file::File;
use super::tool::grep::Grep;
use super::tool::log::Log;
use super::tool::ls_files::LsFiles;
use super::tool::merge_base::MergeBase;
use super::tool::show::Show;
use super::tool::status::Status;
use crate::input::Value;

/// The six tools that every registration has.
pub const TOOLS: [&str; 6] =
    ["git_log", "git_show", "git_diff", "git_blame", "git_merge_base", "git_ls_files"];
/// The tools that `extra` switches on.
pub const EXTRA_TOOLS: [(&str, Extra); 4] = [
    ("git_status", Extra::Status),
    ("git_grep", Extra::Grep),
    ("git_branches", Extra::Branches),
    ("git_file", Extra::File),
];

/// A checked question.
#[derive(Debug)]
pub struct GitRequest(Box<dyn Tool>);

impl GitRequest {
    /// Reads the parameters of the tool `name`.
    pub fn parse(name: &str, params: &Value, extra: &[Extra]) -> Result<Self, GitError> {
        let has = |wanted: Extra| extra.contains(&wanted);
        Ok(Self(match name {
            "git_log" => Box::new(Log::parse(params, has(Extra::Log))?),
            "git_show" => Box::new(Show::parse(params)?),
            "git_diff" => Box::new(Diff::parse(params)?),
            "git_blame" => Box::new(Blame::parse(params)?),
            "git_merge_base" => Box::new(MergeBase::parse(params)?),
            "git_ls_files" => Box::new(LsFiles::parse(params)?),
            "git_status" if has(Extra::Status) => Box::new(Status::parse(params)?),
            "git_grep" if has(Extra::Grep) => Box::new(Grep::parse(params)?),
            "git_branches" if has(Extra::Branches) => Box::new(Branches::parse(params)?),
            "git_file" if has(Extra::File) => Box::new(File::parse(params)?),
            _ => return Err(GitError::UnknownTool { name: name.to_owned() }),
        }))
    }

    /// The arguments of `runGitCommand`.
    pub fn command(args: &Value) -> Result<Self, GitError> {
        Ok(Self(Box::new(Command::parse(args)?)))
    }

    pub(crate) fn into_tool(self) -> Box<dyn Tool> {
        self.0
    }
}
