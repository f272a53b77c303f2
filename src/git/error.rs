//! Why a git question is refused or can't be answered.

use std::io;

use crate::input::{InputError, quoted};

/// A refusal, or a failure before git could answer. None of the texts holds what git wrote to standard error: it
/// quotes file contents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// An option or parameter has the wrong shape. `ERR_BAD_OPTION`.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No git tool has that name, or it was not switched on by `extra`. `ERR_UNKNOWN_TOOL`.
    #[error("No git tool {} is registered.", quoted(name))]
    UnknownTool {
        /// What was asked for.
        name: String,
    },
    /// `registerGitTools` was not called. `ERR_GIT_NOT_REGISTERED`.
    #[error("The git tools have no repository: registerGitTools was not called.")]
    NotRegistered,
    /// A value that git could read as something else. `ERR_GIT_BAD_VALUE`.
    #[error("{name} {} {rule}.", quoted(value))]
    BadValue {
        /// The parameter.
        name: &'static str,
        /// What came.
        value: String,
        /// What it breaks: "must …".
        rule: &'static str,
    },
    /// A head to compare without a base. `ERR_GIT_BAD_VALUE`.
    #[error("git_diff with a head needs a base.")]
    NeedsBase,
    /// The question needs a working tree, and the repository is bare. `ERR_GIT_BAD_VALUE`.
    #[error("{tool} needs a working tree here, and the repository is bare.")]
    NeedsWorkTree {
        /// The tool.
        tool: &'static str,
    },
    /// The revision is malformed, or names nothing. `ERR_GIT_BAD_REVISION`.
    #[error("{} is not a valid git revision.", quoted(value))]
    BadRevision {
        /// What came.
        value: String,
    },
    /// The path can't be one of the repository. `ERR_GIT_BAD_PATH`.
    #[error("The path {} {rule}.", quoted(path))]
    BadPath {
        /// What came.
        path: String,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// The path leads out of the repository. `ERR_GIT_BAD_PATH`.
    #[error(
        "The path {} leads to {}, outside the permitted root {}.",
        quoted(path),
        quoted(resolved),
        quoted(root)
    )]
    PathOutside {
        /// What came.
        path: String,
        /// Where it leads.
        resolved: String,
        /// The repository.
        root: String,
    },
    /// The commit has nothing at that path. `ERR_GIT_BAD_PATH`.
    #[error("The path {} does not exist in {}.", quoted(path), quoted(revision))]
    NoSuchPath {
        /// The path.
        path: String,
        /// The revision as it was given.
        revision: String,
    },
    /// There is no repository. `ERR_GIT_NO_REPOSITORY`.
    #[error("{} is not a git repository: {problem}.", quoted(root))]
    NoRepository {
        /// `repoRoot`.
        root: String,
        /// What is missing.
        problem: &'static str,
    },
    /// The git directory is not built as git builds it, or leads elsewhere. `ERR_GIT_LAYOUT`.
    #[error("{} can't be trusted as part of a git directory: {problem}.", quoted(path))]
    Layout {
        /// The file or directory.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The repository belongs to somebody else. `ERR_GIT_OWNER`.
    #[error("{} belongs to user {owner}, not to this one ({own}) or root.", quoted(path))]
    Owner {
        /// The file or directory.
        path: String,
        /// Its owner.
        owner: u32,
        /// Who we are.
        own: u32,
    },
    /// No git program. `ERR_GIT_NOT_FOUND`.
    #[error("No git program was found: {problem}.")]
    NotFound {
        /// Where it was looked for.
        problem: String,
    },
    /// The git program is too old, or says no version. `ERR_GIT_VERSION`.
    #[error("{} is git {found}; {purpose} at least {least}.", quoted(program))]
    Version {
        /// The program.
        program: String,
        /// What it says.
        found: String,
        /// What is needed.
        least: String,
        /// Who needs it.
        purpose: &'static str,
    },
    /// The answer needs an object that a partial clone left out, or that is lost. `ERR_GIT_MISSING_OBJECT`.
    #[error("{tool} needs an object that is not in this repository (a partial clone, or a damaged one).")]
    MissingObject {
        /// The tool.
        tool: &'static str,
    },
    /// A preparing step was ended by its budget or could not run. `ERR_GIT_FAILED`.
    #[error("git could not {step}: it {how}.")]
    Failed {
        /// What the step was for.
        step: &'static str,
        /// How it ended.
        how: String,
    },
    /// A file of the repository or of the shadow can't be read or written. `ERR_GIT_FAILED`.
    #[error("{} can't be used: {source}.", quoted(path))]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl GitError {
    /// The name of its stable code, which is chosen with all others in `error`.
    pub fn code(&self) -> &'static str {
        crate::error::git_code(self).name()
    }

    /// What to do about it.
    pub fn recovery(&self) -> &'static str {
        match self {
            Self::Input(_) => "Correct the option and call again.",
            Self::UnknownTool { .. } => {
                "Use a tool that is listed, or name it in `extra` of registerGitTools."
            }
            Self::NotRegistered => "Call registerGitTools({ repoRoot }) first.",
            Self::BadValue { .. } => "Give a plain value; options can't be passed through it.",
            Self::NeedsBase => "Give base as well, or leave head out.",
            Self::NeedsWorkTree { .. } => "Give two commits, base and head.",
            Self::BadRevision { .. } => {
                "Give a branch, a tag, a commit id, or one of these with ~n or ^; git_log shows commits."
            }
            Self::BadPath { .. } | Self::PathOutside { .. } => {
                "Give a path relative to the repository's root; git_ls_files lists them."
            }
            Self::NoSuchPath { .. } => {
                "List paths with git_ls_files, or name a commit that has it (git_log)."
            }
            Self::NoRepository { .. } => {
                "Set repoRoot to the directory that holds .git, or set `bare: true` for a bare repository."
            }
            Self::Layout { .. } => {
                "Set repoRoot to an ordinary checkout; for alternates list their directory in `allowAlternates`, \
                 for a bare repository set `bare: true`."
            }
            Self::Owner { .. } => {
                "Change its owner, or set `trustOwner: true` if whoever owns it is trusted."
            }
            Self::NotFound { .. } => "Install git, or set `gitExecutable` to its absolute path.",
            Self::Version { .. } => "Update git, or set `gitExecutable` to a newer one.",
            Self::MissingObject { .. } => {
                "Fetch it outside of these tools (git fetch --refetch), or ask about another path or commit."
            }
            Self::Failed { .. } => "Call again; if it fails again, check the repository with git fsck.",
            Self::Io { .. } => {
                "Check that this user may read the repository and write the scratch directory."
            }
        }
    }

    /// What the message is about, by name.
    pub fn details(&self) -> serde_json::Value {
        use serde_json::json;
        match self {
            Self::Input(_) | Self::NotRegistered | Self::NeedsBase => json!({}),
            Self::UnknownTool { name } => json!({ "tool": name }),
            Self::BadValue { name, value, .. } => json!({ "name": name, "value": value }),
            Self::NeedsWorkTree { tool } | Self::MissingObject { tool } => json!({ "tool": tool }),
            Self::BadRevision { value } => json!({ "value": value }),
            Self::BadPath { path, .. } | Self::Layout { path, .. } | Self::Io { path, .. } => {
                json!({ "path": path })
            }
            Self::PathOutside { path, resolved, root } => {
                json!({ "path": path, "resolved": resolved, "root": root })
            }
            Self::NoSuchPath { path, revision } => json!({ "path": path, "revision": revision }),
            Self::NoRepository { root, .. } => json!({ "root": root }),
            Self::Owner { path, owner, own } => json!({ "path": path, "owner": owner, "own": own }),
            Self::NotFound { problem } => json!({ "problem": problem }),
            Self::Version { program, found, least, .. } => {
                json!({ "program": program, "found": found, "least": least })
            }
            Self::Failed { step, .. } => json!({ "step": step }),
        }
    }

    /// A file that can't be used.
    pub(crate) fn io(path: &std::path::Path, source: io::Error) -> Self {
        Self::Io { path: path.to_string_lossy().into_owned(), source }
    }

    /// A layout that is refused.
    pub(crate) fn layout(path: &std::path::Path, problem: impl Into<String>) -> Self {
        Self::Layout { path: path.to_string_lossy().into_owned(), problem: problem.into() }
    }
}
