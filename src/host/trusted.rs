//! Runs that the package itself words: no policy is asked, nothing is announced, and they count for no session.
//! Otherwise they are commands like any other, kept and ended by the same keeper.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

use super::course::Course;
use super::registry::Live;
use super::{Cancel, CommandHost};
use crate::confinement::Rules;
use crate::error::Error;
use crate::os::clock::epoch_ms;
use crate::os::signal::SignalNumber;
use crate::supervisor::launch::Handover;
use crate::vault::error::VaultError;
use crate::vault::id::TaskId;
use crate::vault::record::{Cause, CommandFile, Outcome};
use crate::warden::protocol::{ExecBy, Limits, Specification};

/// What to run.
#[derive(Debug, Clone)]
pub struct TrustedRun {
    /// The program, absolute, and its arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its time budget, milliseconds.
    pub timeout_ms: u64,
    /// From SIGTERM to SIGKILL, milliseconds.
    pub kill_grace_ms: u64,
    /// Bytes kept of each stream.
    pub max_output_bytes: u64,
    /// Address space of each of its processes, bytes.
    pub address_space_bytes: Option<u64>,
    /// What the kernel holds it to.
    pub confinement: Option<Rules>,
    /// What people call it.
    pub label: String,
    /// Whose it is.
    pub session_id: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub struct Ran {
    /// Where its output is.
    pub task: TaskId,
    /// How it ended.
    pub outcome: Arc<Outcome>,
}

impl CommandHost {
    /// Runs it to its end. When the one who asked gives up, it is ended.
    pub(super) async fn run_trusted(
        self: &Arc<Self>,
        run: TrustedRun,
        cancel: &mut Cancel,
    ) -> Result<Ran, Error> {
        self.check_alive()?;
        super::start::check_platform()?;
        let vault = self.vault()?;
        let internal =
            |error: std::io::Error| super::error::HostError::Internal { reason: error.to_string() };
        let task = TaskId::new().map_err(internal)?;
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let cwd: OwnedFd = open(&run.cwd, flags, Mode::empty()).map_err(|errno| internal(errno.into()))?;
        let command = Arc::new(run.command_file(&task));
        let task_files = vault.create(&task, &command)?;
        let handover = Handover {
            specification: run.specification(&task),
            task: task_files,
            cwd,
            program: None,
            input: None,
            sync: false,
        };
        let course = Course::quiet(Arc::clone(self), task, command);
        let mut asked = Asked(course.live());
        if let Err(failed) = course.launch(handover, None).await {
            vault.discard(&task);
            return Err(failed.error);
        }
        let mut ended = Cancel(self.ended.subscribe());
        let settled = tokio::select! {
            settled = asked.0.settled() => settled,
            () = cancel.set() => {
                asked.0.end(SignalNumber::TERM, Cause::Abort);
                asked.0.settled().await
            }
            () = ended.set() => {
                asked.0.end(SignalNumber::TERM, Cause::KillAll);
                asked.0.settled().await
            }
        };
        let unfollowed = || super::error::HostError::Internal { reason: "a run was not followed".into() };
        Ok(Ran { task, outcome: settled.ok_or_else(unfollowed)?.outcome })
    }

    /// Removes a run whose output was only a step.
    pub(super) fn discard_run(&self, task: &TaskId) {
        if let Ok(vault) = self.vault() {
            vault.discard(task);
        }
    }

    /// The first `most` bytes of a stream of a run.
    pub(super) fn run_output(
        &self,
        task: &TaskId,
        stream: crate::vault::id::Stream,
        most: u64,
    ) -> Result<Vec<u8>, Error> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        let file = self.vault()?.stream(task, stream)?;
        file.take(most)
            .read_to_end(&mut bytes)
            .map_err(|source| VaultError::Read { name: task.to_string(), source })?;
        Ok(bytes)
    }
}

/// A run as the one who asked for it holds it: whoever stops waiting has it ended.
struct Asked(Live);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.end(SignalNumber::TERM, Cause::Abort);
    }
}

impl TrustedRun {
    fn command_file(&self, task: &TaskId) -> CommandFile {
        CommandFile {
            task_id: task.to_string(),
            label: self.label.clone(),
            argv: self.argv.clone(),
            cwd: self.cwd.to_string_lossy().into_owned(),
            executable: self.argv.first().cloned().unwrap_or_default(),
            session_id: self.session_id.clone(),
            started_at: epoch_ms(),
            timeout_ms: self.timeout_ms,
            max_output_bytes: self.max_output_bytes,
            queued: false,
            host_pid: std::process::id(),
            confinement: self.confinement.as_ref().map(|rules| rules.confined.clone()),
            tmp_dir: None,
            keep_tmp: false,
        }
    }

    fn specification(&self, task: &TaskId) -> Specification {
        Specification {
            task_id: task.to_string(),
            argv: self.argv.clone(),
            env: self.env.clone(),
            exec: ExecBy::Path(self.argv.first().cloned().unwrap_or_default()),
            timeout_ms: self.timeout_ms,
            kill_grace_ms: self.kill_grace_ms,
            stray_grace_ms: 0,
            max_output_bytes: self.max_output_bytes,
            max_total_output_bytes: None,
            has_input: false,
            limits: Limits { address_space_bytes: self.address_space_bytes, ..Limits::default() },
            confinement: self.confinement.clone(),
        }
    }
}
