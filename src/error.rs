//! The union of the stages' errors, and the one place where each gets its stable code.

use serde::Serialize;

use crate::confinement::ConfinementError;
use crate::git::GitError;
use crate::host::error::HostError;
use crate::input::InputError;
use crate::policy::PolicyError;
use crate::program::ProgramError;
use crate::sandbox::SandboxError;
use crate::supervisor::error::SupervisorError;
use crate::tools::error::ToolError;
use crate::vault::error::VaultError;
use crate::vault::text::SearchError;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+) => {
        /// Every code that a caller can see. The list is closed: the README and the types repeat it, a test holds them to it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// All of them, in the order of the README.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

codes! {
    /// Nothing starts without a policy.
    NoPolicy => "ERR_NO_POLICY",
    /// The policy has the wrong shape; the one before stays.
    BadPolicy => "ERR_BAD_POLICY",
    /// argv is not a non-empty array of strings that a program can be given.
    BadArgv => "ERR_BAD_ARGV",
    /// argv[0] holds white space or a shell metacharacter: a command line, not a name.
    NotAnExecutableName => "ERR_NOT_AN_EXECUTABLE_NAME",
    /// argv or the environment is larger than the kernel takes.
    ArgvTooLong => "ERR_ARGV_TOO_LONG",
    /// argv[0] is not in `allowedExecutables`.
    ExecutableNotAllowed => "ERR_EXECUTABLE_NOT_ALLOWED",
    /// The file is not the one that was pinned or approved.
    ExecutableChanged => "ERR_EXECUTABLE_CHANGED",
    /// argv matches none of `allowedCommands`.
    CommandNotAllowed => "ERR_COMMAND_NOT_ALLOWED",
    /// `approve` said no, failed, or took too long.
    ApprovalDenied => "ERR_APPROVAL_DENIED",
    /// A model's call waited as long as it may; the decision is still open.
    ApprovalPending => "ERR_APPROVAL_PENDING",
    /// `allowlist` refused.
    Vetoed => "ERR_VETOED",
    /// `cwdRoot` can't be opened.
    RootNotFound => "ERR_ROOT_NOT_FOUND",
    /// The working directory does not exist.
    CwdNotFound => "ERR_CWD_NOT_FOUND",
    /// The working directory is not a directory.
    CwdNotADirectory => "ERR_CWD_NOT_A_DIRECTORY",
    /// The working directory can't be entered by this user.
    CwdPermission => "ERR_CWD_PERMISSION",
    /// The working directory lies outside the root.
    CwdOutsideRoot => "ERR_CWD_OUTSIDE_ROOT",
    /// An option or an argument has the wrong shape.
    BadOption => "ERR_BAD_OPTION",
    /// An environment entry can't be passed on.
    BadEnv => "ERR_BAD_ENV",
    /// A budget is above what the policy allows.
    Budget => "ERR_BUDGET",
    /// The abort signal had fired before anything ran.
    Aborted => "ERR_ABORTED",
    /// No command has that id in this vault.
    UnknownTask => "ERR_UNKNOWN_TASK",
    /// No artifact has that id in this vault.
    UnknownArtifact => "ERR_UNKNOWN_ARTIFACT",
    /// No tool has that name.
    UnknownTool => "ERR_UNKNOWN_TOOL",
    /// A search pattern is not a regular expression.
    BadPattern => "ERR_BAD_PATTERN",
    /// The artifact has more characters than a JavaScript string holds.
    ArtifactTooLarge => "ERR_ARTIFACT_TOO_LARGE",
    /// The vault's directory can't be made, opened, trusted or written.
    VaultUnavailable => "ERR_VAULT_UNAVAILABLE",
    /// The vault has reached `maxVaultBytes`, or its disk is full.
    VaultFull => "ERR_VAULT_FULL",
    /// Descriptors, processes or memory ran out.
    Resources => "ERR_RESOURCES",
    /// The warden is missing, of another version, or did not answer.
    Keeper => "ERR_KEEPER",
    /// The system lacks something that every start needs.
    Platform => "ERR_PLATFORM",
    /// The kernel can't enforce what `confinement` requires.
    ConfinementUnavailable => "ERR_CONFINEMENT_UNAVAILABLE",
    /// The host was disposed.
    Disposed => "ERR_DISPOSED",
    /// No repository was registered for the git tools.
    GitNotRegistered => "ERR_GIT_NOT_REGISTERED",
    /// A value for git is refused, or one is missing.
    GitBadValue => "ERR_GIT_BAD_VALUE",
    /// A revision that git can't resolve.
    GitBadRevision => "ERR_GIT_BAD_REVISION",
    /// A path outside of the repository, or one that isn't in it.
    GitBadPath => "ERR_GIT_BAD_PATH",
    /// `repoRoot` holds no repository.
    GitNoRepository => "ERR_GIT_NO_REPOSITORY",
    /// The repository's git directory is laid out in a way that could lead elsewhere.
    GitLayout => "ERR_GIT_LAYOUT",
    /// The repository belongs to another user.
    GitOwner => "ERR_GIT_OWNER",
    /// git itself can't be found.
    GitNotFound => "ERR_GIT_NOT_FOUND",
    /// git is too old to be used on a repository that isn't trusted.
    GitVersion => "ERR_GIT_VERSION",
    /// An object that a partial clone doesn't have.
    GitMissingObject => "ERR_GIT_MISSING_OBJECT",
    /// git could not be run to an answer.
    GitFailed => "ERR_GIT_FAILED",
    /// A fault in argvault itself.
    Internal => "ERR_INTERNAL",
}

/// Whatever can refuse or fail a call. Each stage owns its own enum; this one only joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pure rules.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Root and working directory.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// What the tree is held to.
    #[error(transparent)]
    Confinement(#[from] ConfinementError),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// A search.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The warden.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// The host itself.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A question to git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A tool's call.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// An option of anything but a policy or a start.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl Error {
    /// The stable code: the one place where it is chosen.
    pub fn code(&self) -> Code {
        match self {
            Self::Policy(error) => policy_code(error),
            Self::Sandbox(error) => sandbox_code(error),
            Self::Program(error) => match error {
                ProgramError::WrongDigest { .. }
                | ProgramError::Unreadable { .. }
                | ProgramError::Replaced { .. } => Code::ExecutableChanged,
                ProgramError::OutsideRoot { .. } => Code::ExecutableNotAllowed,
                ProgramError::Resources { .. } => Code::Resources,
                ProgramError::Platform { .. } => Code::Platform,
                ProgramError::NoSuchEntry { .. } => Code::Internal,
            },
            Self::Confinement(error) => match error {
                ConfinementError::Wider { .. } => Code::Budget,
                ConfinementError::Unavailable { .. }
                | ConfinementError::OutsideRoot { .. }
                | ConfinementError::NotText { .. } => Code::ConfinementUnavailable,
            },
            Self::Vault(error) => match error {
                error if error.is_full() => Code::VaultFull,
                error if error.is_shortage() => Code::Resources,
                VaultError::Full { .. } => Code::VaultFull,
                VaultError::Watch { .. } => Code::Resources,
                VaultError::UnknownTask { .. } => Code::UnknownTask,
                VaultError::TooLarge { .. } => Code::ArtifactTooLarge,
                VaultError::Open { .. }
                | VaultError::Owner { .. }
                | VaultError::Mode { .. }
                | VaultError::NoPlace
                | VaultError::Create { .. }
                | VaultError::Read { .. } => Code::VaultUnavailable,
            },
            Self::Search(error) => match error {
                SearchError::BadPattern { .. }
                | SearchError::PatternTooLong { .. }
                | SearchError::PatternTooBig { .. } => Code::BadPattern,
                SearchError::Io { .. } => Code::VaultUnavailable,
            },
            Self::Supervisor(error) => match error {
                SupervisorError::Resources { .. } => Code::Resources,
                SupervisorError::Changed { .. } => Code::ExecutableChanged,
                SupervisorError::Unconfined { .. } => Code::ConfinementUnavailable,
                SupervisorError::WardenUnusable { .. }
                | SupervisorError::WardenVersion { .. }
                | SupervisorError::WardenGone { .. }
                | SupervisorError::NoAnswer { .. }
                | SupervisorError::Fault { .. } => Code::Keeper,
            },
            Self::Host(error) => match error {
                HostError::NoPolicy => Code::NoPolicy,
                HostError::ApprovalDenied { .. } => Code::ApprovalDenied,
                HostError::Vetoed { .. } => Code::Vetoed,
                HostError::Aborted => Code::Aborted,
                HostError::Disposed => Code::Disposed,
                HostError::MissingCall { .. } | HostError::NoProc => Code::Platform,
                HostError::NoSuchQuestion
                | HostError::UnknownSignal { .. }
                | HostError::NoSuchFollower
                | HostError::MixedPage => Code::BadOption,
                HostError::QueuedElsewhere { .. } => Code::Keeper,
                HostError::Internal { .. } => Code::Internal,
            },
            Self::Git(error) => git_code(error),
            Self::Tool(error) => match error {
                ToolError::UnknownTool { .. } => Code::UnknownTool,
                ToolError::ApprovalPending { .. } => Code::ApprovalPending,
                ToolError::Aborted => Code::Aborted,
                ToolError::UnknownArtifact { .. } => Code::UnknownArtifact,
            },
            Self::Input(_) => Code::BadOption,
        }
    }

    fn recovery(&self) -> String {
        match self {
            Self::Policy(error) => error.recovery(),
            Self::Sandbox(error) => error.recovery(),
            Self::Program(error) => error.recovery(),
            Self::Confinement(error) => error.recovery(),
            Self::Vault(error) => error.recovery(),
            Self::Search(error) => error.recovery(),
            Self::Supervisor(error) => error.recovery(),
            Self::Host(error) => error.recovery(),
            Self::Git(error) => error.recovery().into(),
            Self::Tool(error) => error.recovery(),
            Self::Input(error) => error.recovery(),
        }
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::Policy(error) => error.details(),
            Self::Sandbox(error) => error.details(),
            Self::Program(error) => error.details(),
            Self::Confinement(error) => error.details(),
            Self::Search(error) => error.details(),
            Self::Git(error) => error.details(),
            Self::Vault(_) | Self::Supervisor(_) | Self::Host(_) | Self::Tool(_) | Self::Input(_) => {
                serde_json::json!({})
            }
        }
    }

    /// As it crosses to JavaScript.
    pub fn to_wire(&self) -> WireError {
        let hint = self.recovery();
        let message = match self {
            // A hook's own words are the whole message.
            Self::Host(error) if error.is_verbatim() => error.to_string(),
            _ => format!("{self} {hint}"),
        };
        WireError { code: self.code().name(), message, hint, details: self.details() }
    }
}

fn policy_code(error: &PolicyError) -> Code {
    match error {
        PolicyError::ArgvNotAnArray { .. }
        | PolicyError::ArgvEmpty
        | PolicyError::ArgvNotAString { .. }
        | PolicyError::ArgvNul { .. }
        | PolicyError::ArgvLoneSurrogate { .. }
        | PolicyError::ArgvNoName => Code::BadArgv,
        PolicyError::NotAnExecutableName { .. } => Code::NotAnExecutableName,
        PolicyError::ArgTooLong { .. }
        | PolicyError::EnvEntryTooLong { .. }
        | PolicyError::CommandLineTooLong { .. } => Code::ArgvTooLong,
        PolicyError::ExecutableNotAllowed { .. } => Code::ExecutableNotAllowed,
        PolicyError::CommandNotAllowed { .. } => Code::CommandNotAllowed,
        PolicyError::BadOption(_) | PolicyError::CwdNul { .. } => Code::BadOption,
        PolicyError::EnvNotAnObject { .. } | PolicyError::EnvEntry { .. } => Code::BadEnv,
        PolicyError::AboveCeiling { .. } | PolicyError::WiderConfinement { .. } => Code::Budget,
        PolicyError::BadPolicy(_)
        | PolicyError::EntryNeverMatches { .. }
        | PolicyError::ExecutablesDisagree { .. }
        | PolicyError::DefaultAboveCeiling { .. }
        | PolicyError::BadPattern { .. } => Code::BadPolicy,
    }
}

pub(crate) fn git_code(error: &GitError) -> Code {
    match error {
        GitError::Input(_) => Code::BadOption,
        GitError::UnknownTool { .. } => Code::UnknownTool,
        GitError::NotRegistered => Code::GitNotRegistered,
        GitError::BadValue { .. } | GitError::NeedsBase | GitError::NeedsWorkTree { .. } => Code::GitBadValue,
        GitError::BadRevision { .. } => Code::GitBadRevision,
        GitError::BadPath { .. } | GitError::PathOutside { .. } | GitError::NoSuchPath { .. } => {
            Code::GitBadPath
        }
        GitError::NoRepository { .. } => Code::GitNoRepository,
        GitError::Layout { .. } => Code::GitLayout,
        GitError::Owner { .. } => Code::GitOwner,
        GitError::NotFound { .. } => Code::GitNotFound,
        GitError::Version { .. } => Code::GitVersion,
        GitError::MissingObject { .. } => Code::GitMissingObject,
        GitError::Failed { .. } | GitError::Io { .. } => Code::GitFailed,
    }
}

fn sandbox_code(error: &SandboxError) -> Code {
    match error {
        SandboxError::RootNotAbsolute { .. }
        | SandboxError::RootMissing { .. }
        | SandboxError::RootNotADirectory { .. }
        | SandboxError::RootPermission { .. }
        | SandboxError::RootUnusable { .. } => Code::RootNotFound,
        SandboxError::CwdOutsideRoot { .. } | SandboxError::CwdUnsteady { .. } => Code::CwdOutsideRoot,
        SandboxError::CwdMissing { .. } | SandboxError::CwdUnusable { .. } => Code::CwdNotFound,
        SandboxError::CwdNotADirectory { .. } => Code::CwdNotADirectory,
        SandboxError::CwdPermission { .. } => Code::CwdPermission,
        SandboxError::CwdNul { .. } => Code::BadOption,
        SandboxError::Resources { .. } => Code::Resources,
        SandboxError::Platform { .. } => Code::Platform,
    }
}

/// An error as it crosses to JavaScript, where it becomes an `ArgvaultError`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WireError {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong and, last, the recovery step.
    pub message: String,
    /// The recovery step alone.
    pub hint: String,
    /// What the message is about, by name.
    pub details: serde_json::Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_shape_that_callers_match_on_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for code in Code::ALL {
            let name = code.name();
            assert!(
                name.strip_prefix("ERR_").is_some_and(|rest| {
                    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                }),
                "{name}"
            );
            assert!(seen.insert(name), "{name} twice");
        }
    }
}
