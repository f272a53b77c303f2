//! The union of the stages' errors, and the one place where each gets its stable code.

use serde::Serialize;

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
    /// The host was disposed.
    Disposed => "ERR_DISPOSED",
    /// A fault in argvault itself.
    Internal => "ERR_INTERNAL",
}

/// Whatever can refuse or fail a call. Each stage owns its own enum; this one only joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {}

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
