//! Refusals that are nobody's but the host's own: hooks, aborts, disposal, the platform.

/// Why a call is refused by the host itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// No policy was set.
    #[error("No command may start: no policy is set.")]
    NoPolicy,
    /// `approve` refused.
    #[error("{}", verdict("approve", "The command was not approved", reason))]
    ApprovalDenied {
        /// What it said.
        reason: Verdict,
    },
    /// `allowlist` refused.
    #[error("{}", verdict("allowlist", "The command was refused", reason))]
    Vetoed {
        /// What it said.
        reason: Verdict,
    },
    /// The abort signal fired before anything ran.
    #[error("The start was aborted before anything ran.")]
    Aborted,
    /// The host was disposed.
    #[error("This host was disposed.")]
    Disposed,
    /// A system call that every start needs is missing.
    #[error("argvault needs the system call {call} (Linux {since}), and this system refuses it: {reason}.")]
    MissingCall {
        /// Its name.
        call: &'static str,
        /// The kernel that brought it.
        since: &'static str,
        /// What the kernel said.
        reason: String,
    },
    /// `/proc` isn't there.
    #[error("argvault needs /proc to be mounted, and it isn't.")]
    NoProc,
    /// A ticket that nobody gave, or that was answered already.
    #[error("This question is not open.")]
    NoSuchQuestion,
    /// A signal that doesn't exist.
    #[error("{given} is not the name of a signal.")]
    UnknownSignal {
        /// What was given, quoted.
        given: String,
    },
    /// A follower that nobody opened, or that was closed.
    #[error("This follower is not open.")]
    NoSuchFollower,
    /// A page by text and by lines at once.
    #[error("offset and limit page by text, line and lines by lines: both were given.")]
    MixedPage,
    /// Another process's command that waits for its turn there.
    #[error("The command {task} waits for its turn in process {host}, which alone can end it.")]
    QueuedElsewhere {
        /// The task.
        task: String,
        /// The process.
        host: u32,
    },
    /// A fault in argvault itself.
    #[error("argvault failed: {reason}.")]
    Internal {
        /// What happened.
        reason: String,
    },
}

/// What a hook that refused said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Its own words: the message, verbatim.
    Words(String),
    /// It threw or rejected.
    Threw(String),
    /// It answered with something else than `true`.
    Other(String),
    /// It took too long, in milliseconds.
    TimedOut(u64),
}

fn verdict(hook: &str, refused: &str, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Words(words) => words.clone(),
        Verdict::Threw(error) => format!("{refused}: the policy's {hook} hook failed ({error})."),
        Verdict::Other(value) => {
            format!("{refused}: the policy's {hook} hook answered with {value}, and only true allows.")
        }
        Verdict::TimedOut(ms) => {
            format!("{refused}: the policy's {hook} hook did not answer within {ms} ms.")
        }
    }
}

impl HostError {
    /// Whether the message is a hook's own and stands alone.
    pub fn is_verbatim(&self) -> bool {
        matches!(
            self,
            Self::ApprovalDenied { reason: Verdict::Words(_) } | Self::Vetoed { reason: Verdict::Words(_) }
        )
    }

    /// What to do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::NoPolicy => {
                "Call setBackgroundCommandPolicy({ allowedExecutables, cwdRoot }) first.".into()
            }
            Self::ApprovalDenied { .. } => {
                "Ask for another command, or have a person approve this one.".into()
            }
            Self::Vetoed { .. } => "Ask for another command, or change the policy's allowlist hook.".into(),
            Self::Aborted => "Start the command again without the aborted signal.".into(),
            Self::Disposed => {
                "Make a new CommandHost; the default host is re-armed by setting a policy.".into()
            }
            Self::MissingCall { .. } => {
                "Run on Linux 5.9 or later, or allow the call in the container's seccomp profile.".into()
            }
            Self::NoProc => "Mount /proc where this process runs.".into(),
            Self::NoSuchQuestion => "Answer each question once, before it times out.".into(),
            Self::UnknownSignal { .. } => {
                "Use a name of signal(7), such as \"SIGTERM\" or \"SIGINT\".".into()
            }
            Self::NoSuchFollower => "Open a new one with followOutput().".into(),
            Self::MixedPage => "Give offset and limit, or line and lines.".into(),
            Self::QueuedElsewhere { .. } => {
                "End it there, end that process, or try again once the command runs.".into()
            }
            Self::Internal { .. } => "Report this with the steps that lead to it.".into(),
        }
    }
}
