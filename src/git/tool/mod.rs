//! The tools: each turns checked values into what must be resolved first and then into one fixed command line.
//!
//! No text of the model stands where git could read a flag: revisions reach the main command only as object ids, a
//! path only after `--`, and a search text only glued to the flag that takes it.

pub(crate) mod blame;
pub(crate) mod branches;
pub(crate) mod command;
pub(crate) mod diff;
pub(crate) mod file;
pub(crate) mod grep;
pub(crate) mod log;
pub(crate) mod ls_files;
pub(crate) mod merge_base;
pub(crate) mod show;
pub(crate) mod status;

use super::error::GitError;
use super::invocation::Mode;
use super::path::Scope;
use super::render::Render;
use super::revision::Revision;
use crate::input::{Field, Fields};
use crate::limits;

/// What is asked of git before the main command, in order. A number names an earlier answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// The commit of a revision.
    Commit(Revision),
    /// Whatever a revision names: a tag stays a tag.
    Object(Revision),
    /// The kind of an object.
    Kind(usize),
    /// The newest common ancestor of two commits.
    MergeBase(usize, usize),
    /// What a commit has at a path.
    Entry(usize, Revision, String),
}

/// An answer to a [`Need`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// An object id.
    Id(String),
    /// HEAD, before the first commit.
    Unborn,
    /// Two commits without a common ancestor.
    Unrelated,
    /// "commit", "tree", "blob" or "tag".
    Kind(String),
    /// An entry of a tree.
    Entry {
        /// "tree", "blob", or "commit" for a submodule.
        kind: String,
        /// Its object id.
        id: String,
    },
}

/// What answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// git's output.
    Run {
        /// The subcommand and its arguments.
        arguments: Vec<String>,
        /// Where it runs.
        mode: Mode,
        /// How its output becomes text.
        render: Render,
    },
    /// What is known already, in the words of the answer.
    Say(&'static str),
}

/// One request of one tool.
pub(crate) trait Tool: std::fmt::Debug + Send {
    /// The tool's name.
    fn name(&self) -> &'static str;

    /// Whether the index is read.
    fn needs_index(&self) -> bool {
        false
    }

    /// What must be known first. Paths are settled here.
    fn prepare(&mut self, scope: &Scope) -> Result<Vec<Need>, GitError>;

    /// The command line, given the answers to what [`Tool::prepare`] asked.
    fn plan(&self, found: &[Found]) -> Result<Plan, GitError>;

    /// What a non-zero exit without output means.
    fn failure(&self, _exit_code: i32) -> &'static str {
        "(git ended with an error and no output)"
    }
}

/// `diff` and `show` and `log` print changes in one way. Submodules come on top: see [`POINTERS`] and [`NO_SUBMODULES`].
const CHANGES: [&str; 10] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "-O/dev/null",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-relative",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
];
/// Between two trees a submodule is a pointer and nothing of it is opened.
const POINTERS: &str = "--ignore-submodules=dirty";
/// Against the working tree git would run itself inside a submodule, with that one's configuration.
const NO_SUBMODULES: &str = "--ignore-submodules=all";
/// `log` and `show` print commits in one way.
const COMMITS: [&str; 6] = [
    "--no-show-signature",
    "--no-notes",
    "--no-mailmap",
    "--no-decorate",
    "--date=iso-strict",
    "--encoding=UTF-8",
];
/// A merge is shown by what it brought to its first parent.
const MERGES: &str = "--diff-merges=first-parent";
/// A merge is shown without changes. With any other choice `log` of a path lists merges that left it alone.
const NO_MERGES: &str = "--diff-merges=off";
/// A commit in full. The message is indented, so that no line of it can pass for a header; the fields above it can't
/// hold a newline.
const COMMIT_FORMAT: &str =
    "--format=commit %H%nParents: %P%nAuthor: %an <%ae>%nDate: %aI%n%n%w(0,4,4)%B%w()";
/// A commit before a list of names. The NUL in front tells it from a name that looks like one; indenting the whole
/// message (`%w`) would swallow that NUL, so only the subject is shown.
const NAMED_FORMAT: &str = "--format=%x00commit %H%nParents: %P%nAuthor: %an <%ae>%nDate: %aI%n%n    %s%n";

/// The beginning of a command line.
fn arguments(parts: &[&[&str]]) -> Vec<String> {
    parts.iter().flat_map(|part| part.iter().map(|text| (*text).to_owned())).collect()
}

/// Ends a command line with object ids and at most one path.
fn finish(arguments: &mut Vec<String>, ids: &[String], path: Option<&str>) {
    arguments.push("--end-of-options".into());
    arguments.extend(ids.iter().cloned());
    arguments.push("--".into());
    arguments.extend(path.map(str::to_owned));
}

/// The object id among the answers, or the refusal of `revision`, which names nothing yet.
fn id(found: Option<&Found>, revision: &Revision) -> Result<String, GitError> {
    match found {
        Some(Found::Id(id) | Found::Entry { id, .. }) => Ok(id.clone()),
        _ => Err(Revision::refusal(revision.as_str())),
    }
}

/// A required string.
fn required<'v>(field: &Field<'v>) -> Result<&'v str, GitError> {
    Ok(field.text()?.ok_or_else(|| field.wrong("a string"))?)
}

/// A text that is only searched for: glued to its flag, so that it may begin with anything.
fn search<'v>(field: &Field<'v>, name: &'static str) -> Result<Option<&'v str>, GitError> {
    let Some(text) = field.text()? else { return Ok(None) };
    let odd = |c: char| c.is_control() && c != '\t';
    if text.is_empty() || text.len() > limits::GIT_MAX_SEARCH_BYTES || text.contains(odd) {
        let rule = "must have 1 to 1000 bytes and no control characters";
        return Err(GitError::BadValue { name, value: text.to_owned(), rule });
    }
    Ok(Some(text))
}

/// An integer from 1, lowered to `most`.
fn at_most(field: &Field<'_>, most: u64) -> Result<Option<u64>, GitError> {
    Ok(field.positive_integer()?.map(|number| number.min(most)))
}

/// Reads the parameters of one tool.
fn params(value: &crate::input::Value) -> Result<Fields<'_>, GitError> {
    Ok(Fields::of(value, "params")?.null_is_absent())
}
