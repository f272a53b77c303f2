//! What is kept of a command beside its output: `command.json`, written before it runs, and the outcome in
//! `record.json`. Both are read by later versions and other processes, so their fields only ever grow.

use serde::{Deserialize, Serialize};

use crate::confinement::Confined;

/// Why a command is over. The first cause wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The main process called exit.
    Exit,
    /// No program ran; `error` says why.
    StartFailed,
    /// A signal that did not come from here ended the main process.
    Signal,
    /// `killBackgroundCommand`.
    Kill,
    /// `killAll` or `dispose`.
    KillAll,
    /// The start's abort signal.
    Abort,
    /// The process, or the worker thread, that started it is gone.
    HostGone,
    /// The keeper was killed; the tree was ended without it.
    KeeperLost,
    /// Output could not be written.
    Storage,
    /// One of the policy's `limits`.
    Limit,
    /// The time budget.
    Timeout,
    /// `maxOutputBytes` of a stream.
    OutputLimit,
    /// `maxTotalOutputBytes` of both streams together.
    TotalOutputLimit,
}

/// The state of a command that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettledState {
    /// It ended by itself, or never began.
    Exited,
    /// It was ended.
    Killed,
    /// It used up its time budget.
    Timeout,
    /// It wrote more than it may.
    OutputLimit,
}

impl Cause {
    /// The state that goes with this cause.
    pub fn state(self) -> SettledState {
        match self {
            Self::Exit | Self::StartFailed => SettledState::Exited,
            Self::Timeout => SettledState::Timeout,
            Self::OutputLimit | Self::TotalOutputLimit => SettledState::OutputLimit,
            Self::Signal
            | Self::Kill
            | Self::KillAll
            | Self::Abort
            | Self::HostGone
            | Self::KeeperLost
            | Self::Storage
            | Self::Limit => SettledState::Killed,
        }
    }
}

/// How and when the main process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MainExit {
    /// Its exit code, if it called exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it, else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at: u64,
}

/// What the tree used, from the keeper's own reaping (`getrusage(2)`, `RUSAGE_CHILDREN`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// CPU time in user mode, milliseconds.
    pub user_ms: u64,
    /// CPU time in the kernel, milliseconds.
    pub system_ms: u64,
    /// Resident set of the largest process, bytes.
    pub max_rss_bytes: u64,
}

/// What holds the tree together while it is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Containment {
    /// A cgroup v2 leaf beside the subreaper.
    Cgroup,
    /// A subreaper that kills and reaps until nothing is left.
    Subreaper,
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unkillable {
    /// Its id when it was last seen.
    pub pid: i32,
    /// Its name, at most 15 bytes.
    pub name: String,
}

/// The outcome: `record.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Why it is over.
    pub cause: Cause,
    /// When the last of it was over, in milliseconds since the epoch.
    pub settled_at: u64,
    /// From the program's start to `settled_at`, by the monotonic clock, in milliseconds.
    pub duration_ms: u64,
    /// How the main process ended, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_exit: Option<MainExit>,
    /// What a reader should know beside the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Bytes kept of standard output.
    pub stdout_bytes: u64,
    /// Bytes kept of standard error.
    pub stderr_bytes: u64,
    /// How many processes outlived a main process that ended by itself, and were ended.
    pub strays: u64,
    /// The names of the first of them.
    #[serde(default)]
    pub stray_names: Vec<String>,
    /// Those that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unkillable: Vec<Unkillable>,
    /// A process outside the tree still held an output pipe when the tree was empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output_held_outside: bool,
    /// What the tree used.
    pub usage: Usage,
    /// What held the tree.
    pub containment: Containment,
    /// What the kernel confined it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confined>,
}

impl Outcome {
    /// An outcome with nothing but a cause and its explanation: for a command of which no more is known, or of
    /// which nothing ran.
    pub fn bare(cause: Cause, error: impl Into<String>) -> Self {
        Self {
            cause,
            settled_at: crate::os::clock::epoch_ms(),
            duration_ms: 0,
            main_exit: None,
            error: Some(error.into()),
            stdout_bytes: 0,
            stderr_bytes: 0,
            strays: 0,
            stray_names: Vec::new(),
            unkillable: Vec::new(),
            output_held_outside: false,
            usage: Usage::default(),
            containment: Containment::Subreaper,
            confinement: None,
        }
    }
}

/// What was started: `command.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandFile {
    /// The task.
    pub task_id: String,
    /// What people call it.
    pub label: String,
    /// The whole argv.
    pub argv: Vec<String>,
    /// Where it runs, as resolved.
    pub cwd: String,
    /// The file that runs.
    pub executable: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// When it was started, in milliseconds since the epoch.
    pub started_at: u64,
    /// Its time budget in milliseconds.
    pub timeout_ms: u64,
    /// Bytes kept of each stream.
    pub max_output_bytes: u64,
    /// Waiting for its turn: nothing of it runs yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// The process that started it.
    pub host_pid: u32,
    /// What the kernel confines it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confined>,
    /// Its private temporary directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmp_dir: Option<String>,
    /// The directory stays when it is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_tmp: bool,
}
