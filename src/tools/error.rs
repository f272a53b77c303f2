//! Refusals that only a tool's caller meets.

use crate::input::quoted;

/// Why a tool's call is refused by the tools themselves.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool of that name is registered.
    #[error("No tool is called {given}.{}", nearest.as_ref().map(|name| format!(" Did you mean \"{name}\"?")).unwrap_or_default())]
    UnknownTool {
        /// The name as given, quoted.
        given: String,
        /// The registered name that is most like it, if one is.
        nearest: Option<String>,
        /// What would register it, or the names that there are.
        recovery: String,
    },
    /// A decision is still open after the longest wait of a model's call.
    #[error("The command is still waiting for approval after {waited_ms} ms; it has not been started.")]
    ApprovalPending {
        /// How long this call waited, in milliseconds.
        waited_ms: u64,
    },
    /// The abort signal ended the call.
    #[error("The call was aborted.")]
    Aborted,
    /// No artifact has that id.
    #[error("No artifact {} is in this vault.", quoted(id))]
    UnknownArtifact {
        /// What was asked for.
        id: String,
    },
}

impl ToolError {
    /// What to do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::UnknownTool { recovery, .. } => recovery.clone(),
            Self::ApprovalPending { .. } => {
                "Make the same call again (same argv, same cwd) to go on waiting for this very decision; nobody is \
                 asked twice."
                    .into()
            }
            Self::Aborted => "Make the call again without the aborted signal.".into(),
            Self::UnknownArtifact { .. } => {
                "Use the artifactId from a command's status or from a readBackHint, exactly as it stands there."
                    .into()
            }
        }
    }
}
