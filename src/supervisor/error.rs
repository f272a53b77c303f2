//! Why no program could be handed over.

use std::io;

/// A start that did not come to be. Nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupervisorError {
    /// The warden's file can't be executed.
    #[error("argvault's warden at {path} can't be started: {source}.")]
    WardenUnusable {
        /// Where it was looked for.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The warden is of another build.
    #[error("argvault's warden at {path} is {warden:?}, and the addon needs {own:?}.")]
    WardenVersion {
        /// Where it is.
        path: String,
        /// Its version.
        warden: String,
        /// The addon's.
        own: &'static str,
    },
    /// The warden ended, or what was started is no warden.
    #[error("argvault's warden at {path} ended before it had answered.")]
    WardenGone {
        /// Where it is.
        path: String,
    },
    /// No answer came.
    #[error("argvault's warden did not answer within {ms} ms.")]
    NoAnswer {
        /// How long was waited.
        ms: u64,
    },
    /// Descriptors, processes or memory ran out.
    #[error("The system is out of resources while {doing}: {source}.")]
    Resources {
        /// What was being done.
        doing: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program's file changed between the host's look and its start.
    #[error("{reason}")]
    Changed {
        /// What was found.
        reason: String,
    },
    /// The confinement could not be made, though the kernel has all that it needs.
    #[error("The command could not be confined: {reason}.")]
    Unconfined {
        /// What the keeper said.
        reason: String,
    },
    /// Host and keeper did not understand each other.
    #[error("argvault's keeper failed: {reason}.")]
    Fault {
        /// What it said.
        reason: String,
    },
}

impl SupervisorError {
    /// What to do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::WardenUnusable { .. } | Self::WardenVersion { .. } | Self::WardenGone { .. } => {
                "Install the package again, or run `npm run build` in its folder, so that addon and warden are of one \
                 build."
                    .into()
            }
            Self::NoAnswer { .. } => "The machine may be overloaded; start the command again.".into(),
            Self::Resources { .. } => {
                "Wait until commands have settled, set maxConcurrent, or raise the limits of processes and open files."
                    .into()
            }
            Self::Changed { .. } => {
                "Check who wrote to it; if the change is wanted, set the policy again with the new digest.".into()
            }
            Self::Unconfined { .. } => {
                "Allow landlock_* and seccomp in the container's seccomp profile, or start without confinement.".into()
            }
            Self::Fault { .. } => "Start the command again, and report this if it persists.".into(),
        }
    }

    /// A failure of this process's own calls while `doing`: a shortage, or a fault.
    pub(super) fn system(doing: &str, source: io::Error) -> Self {
        Self::Resources { doing: doing.into(), source }
    }
}
