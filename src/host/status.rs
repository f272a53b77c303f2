//! A status as callers see it, put together from what was started, how it stands and what is in the files.

use serde::Serialize;

use crate::confinement::Confined;
use crate::limits;
use crate::vault::id::{ArtifactId, Stream, TaskId};
use crate::vault::record::{
    Cause, CommandFile, Containment, MainExit, Outcome, SettledState, Unkillable, Usage,
};

/// The state of a command, settled or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveState {
    /// It waits for its turn.
    Queued,
    /// Its tree lives.
    Running,
}

/// A banked stream or text, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactRef {
    /// What `readArtifact` takes.
    pub artifact_id: String,
    /// What people call it.
    pub label: String,
    /// What it is: `command-output`, or what it was banked as.
    pub kind: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its beginning.
    pub preview: String,
    /// How a model reads the rest.
    pub read_back_hint: String,
}

/// What every status has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Common {
    task_id: String,
    label: String,
    argv: Vec<String>,
    cwd: String,
    executable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    started_at: u64,
    duration_ms: u64,
    timeout_ms: u64,
    max_output_bytes: u64,
    stdout_bytes: u64,
    stderr_bytes: u64,
    tail_preview: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_exit: Option<MainExit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confinement: Option<Confined>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tmp_dir: Option<String>,
}

/// What a settled status has beside.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    #[serde(rename = "settledAt")]
    at: u64,
    cause: Cause,
    stdout: ArtifactRef,
    stderr: ArtifactRef,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    strays: u64,
    stray_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unkillable: Vec<Unkillable>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    output_held_outside: bool,
    usage: Usage,
    containment: Containment,
}

/// A status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Status {
    /// Not over.
    Live {
        /// `queued` or `running`.
        state: LiveState,
        /// The rest.
        #[serde(flatten)]
        common: Box<Common>,
    },
    /// Over.
    Settled {
        /// How it ended.
        state: SettledState,
        /// What every status has.
        #[serde(flatten)]
        common: Box<Common>,
        /// The rest.
        #[serde(flatten)]
        settled: Box<Settled>,
    },
}

/// What the files say of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Size of stdout and stderr.
    pub bytes: [u64; 2],
    /// The last of both.
    pub tail: String,
    /// The beginning of each, for a settled one.
    pub heads: [String; 2],
}

impl Status {
    /// Of a command that is not over.
    pub fn live(
        state: LiveState,
        command: &CommandFile,
        duration_ms: u64,
        main_exit: Option<MainExit>,
        output: Output,
    ) -> Self {
        Self::Live {
            state,
            common: Box::new(common(command, duration_ms, main_exit, &output.bytes, output.tail)),
        }
    }

    /// Of a command that is over.
    pub fn settled(task: &TaskId, command: &CommandFile, outcome: &Outcome, output: Output) -> Self {
        let [stdout_head, stderr_head] = output.heads;
        let bank = |stream: Stream, size_bytes: u64, preview: String| {
            let artifact_id = ArtifactId::Output(*task, stream).to_string();
            ArtifactRef {
                label: format!("{} [{}]", command.label, stream.name()),
                kind: "command-output".into(),
                size_bytes,
                preview,
                read_back_hint: read_back_hint(&artifact_id),
                artifact_id,
            }
        };
        let bytes = [outcome.stdout_bytes, outcome.stderr_bytes];
        // How the main process ended stands in fields of its own once it is over.
        let (exit_code, signal) =
            outcome.main_exit.as_ref().map_or((None, None), |exit| (exit.exit_code, exit.signal.clone()));
        let mut common = common(command, outcome.duration_ms, outcome.main_exit.clone(), &bytes, output.tail);
        common.tmp_dir = common.tmp_dir.filter(|_| command.keep_tmp);
        Self::Settled {
            state: outcome.cause.state(),
            common: Box::new(common),
            settled: Box::new(Settled {
                at: outcome.settled_at,
                cause: outcome.cause,
                stdout: bank(Stream::Stdout, bytes[0], stdout_head),
                stderr: bank(Stream::Stderr, bytes[1], stderr_head),
                exit_code,
                signal,
                error: outcome.error.clone(),
                strays: outcome.strays,
                stray_names: outcome.stray_names.clone(),
                unkillable: outcome.unkillable.clone(),
                output_held_outside: outcome.output_held_outside,
                usage: outcome.usage,
                containment: outcome.containment,
            }),
        }
    }
}

fn common(
    command: &CommandFile,
    duration_ms: u64,
    main_exit: Option<MainExit>,
    bytes: &[u64; 2],
    tail_preview: String,
) -> Common {
    Common {
        task_id: command.task_id.clone(),
        label: command.label.clone(),
        argv: command.argv.clone(),
        cwd: command.cwd.clone(),
        executable: command.executable.clone(),
        session_id: command.session_id.clone(),
        started_at: command.started_at,
        duration_ms,
        timeout_ms: command.timeout_ms,
        max_output_bytes: command.max_output_bytes,
        stdout_bytes: bytes[0],
        stderr_bytes: bytes[1],
        tail_preview,
        main_exit,
        confinement: command.confinement.clone(),
        tmp_dir: command.tmp_dir.clone(),
    }
}

/// The call by which a model reads an artifact on.
pub fn read_back_hint(artifact_id: &str) -> String {
    read_back_hint_from(artifact_id, 0)
}

/// The same, from where something that was shown stopped.
pub fn read_back_hint_from(artifact_id: &str, offset: u64) -> String {
    let most = limits::DEFAULT_PAGE_UNITS;
    format!(
        "retrieve_context({{ \"artifactId\": \"{artifact_id}\", \"offset\": {offset}, \"limit\": {most} }})"
    )
}
