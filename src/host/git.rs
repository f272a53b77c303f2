//! Questions to git: the git stage says which runs, this one has them run and banks what they wrote.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use serde::Serialize;

use super::bank::What;
use super::status::{ArtifactRef, read_back_hint_from};
use super::trusted::{Ran, TrustedRun};
use super::{Cancel, CommandHost};
use crate::confinement::{self, Ground, Kernel, Rules};
use crate::error::Error;
use crate::git::{
    Completed, Ending, GitError, GitOptions, Invocation, Purpose, Session, Step, Toolbox, preview_of,
};
use crate::input::Value;
use crate::limits;
use crate::policy::{Confinement, Execute, Level, Network};
use crate::program::{Closure, ProgramTable};
use crate::vault::id::{Stream, TaskId};
use crate::vault::record::Cause;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GitToolResult {
    /// The argv that ran last.
    pub command: Vec<String>,
    /// Whether git answered.
    pub ok: bool,
    /// git's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How it ended.
    pub state: &'static str,
    /// The head of the answer.
    pub preview: String,
    /// All of it.
    pub output: ArtifactRef,
    /// How to read on where the preview stopped.
    pub read_back_hint: String,
    /// The head of git's standard error: for host code alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_preview: Option<String>,
}

/// Who asks, and as what.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The tool, for labels.
    pub tool: String,
    /// Whose question it is.
    pub session_id: Option<String>,
    /// Whether standard error may be shown.
    pub shows_stderr: bool,
}

impl CommandHost {
    /// Registers the repository that the git tools ask. Its options alone are checked; what the machine lacks is told
    /// by the first question.
    pub fn register_git(&self, options: &Value, env: &Value) -> Result<Toolbox, Error> {
        let options = GitOptions::parse(options)?;
        let path = env.text_at("PATH").map(OsString::from).unwrap_or_default();
        let toolbox = Toolbox::new(options, std::env::temp_dir(), path);
        *self.git.lock().unwrap_or_else(PoisonError::into_inner) = Some(toolbox.clone());
        Ok(toolbox)
    }

    /// The repository that is registered.
    pub fn git_toolbox(&self) -> Result<Toolbox, Error> {
        let toolbox = self.git.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(toolbox.ok_or(GitError::NotRegistered)?)
    }

    /// A model's question.
    pub async fn ask_git(
        self: &Arc<Self>,
        params: &Value,
        asking: Asking,
        cancel: Cancel,
    ) -> Result<GitToolResult, Error> {
        let session = self.git_toolbox()?.ask(&asking.tool, params)?;
        self.answer_git(session, asking, cancel).await
    }

    /// The host's own question: arguments for one of git's reading commands.
    pub async fn run_git_command(
        self: &Arc<Self>,
        args: &Value,
        session_id: Option<String>,
        cancel: Cancel,
    ) -> Result<GitToolResult, Error> {
        let session = self.git_toolbox()?.command(args)?;
        let asking = Asking { tool: "git".into(), session_id, shows_stderr: true };
        self.answer_git(session, asking, cancel).await
    }

    async fn answer_git(
        self: &Arc<Self>,
        session: Session,
        asking: Asking,
        mut cancel: Cancel,
    ) -> Result<GitToolResult, Error> {
        let (mut session, mut step) = on_disk(session, Session::start).await?;
        let mut main = None;
        loop {
            let invocation = match step {
                Step::Run(invocation) => invocation,
                Step::Done(answer) => return self.bank_answer(answer, main, &asking).await,
            };
            if let Some(superseded) = main.take() {
                self.discard_run(&superseded);
            }
            let completed = self.run_git(&invocation, &asking, &mut cancel, &mut main).await?;
            let fed = on_disk(session, move |session| session.feed(&completed)).await;
            if let (Err(_), Some(task)) = (&fed, &main) {
                self.discard_run(task);
            }
            (session, step) = fed?;
        }
    }

    /// One run. What a main run wrote stays where it is, for rendering; that of a step is fed back.
    async fn run_git(
        self: &Arc<Self>,
        invocation: &Invocation,
        asking: &Asking,
        cancel: &mut Cancel,
        main: &mut Option<TaskId>,
    ) -> Result<Completed, Error> {
        let run = TrustedRun {
            argv: invocation.argv.clone(),
            env: invocation.env.clone(),
            cwd: invocation.cwd.clone(),
            timeout_ms: invocation.timeout_ms,
            kill_grace_ms: limits::GIT_KILL_GRACE_MS,
            max_output_bytes: invocation.max_output_bytes,
            address_space_bytes: Some(limits::GIT_ADDRESS_SPACE_BYTES),
            confinement: second_wall(invocation),
            label: asking.tool.clone(),
            session_id: asking.session_id.clone(),
        };
        let Ran { task, outcome } = self.run_trusted(run, cancel).await?;
        let exit = outcome.main_exit.as_ref().and_then(|exit| exit.exit_code);
        let ending = match (outcome.cause, exit) {
            (Cause::Exit, Some(code)) => Ending::Exited(code),
            (Cause::Timeout, _) => Ending::TimedOut,
            (Cause::OutputLimit | Cause::TotalOutputLimit, _) => Ending::OutputLimit,
            _ => Ending::Killed,
        };
        let stderr = self.run_output(&task, Stream::Stderr, limits::GIT_STDERR_BYTES as u64)?;
        let stdout = match invocation.purpose {
            Purpose::Resolve => self.run_output(&task, Stream::Stdout, invocation.max_output_bytes)?,
            Purpose::Main => Vec::new(),
        };
        match invocation.purpose {
            Purpose::Resolve => self.discard_run(&task),
            Purpose::Main => *main = Some(task),
        }
        if cancel.is_set() {
            return Err(super::error::HostError::Aborted.into());
        }
        Ok(Completed { ending, stdout, stderr })
    }

    /// Renders what git wrote into an artifact of its own: standard error stays with the run, whose id nobody is told.
    async fn bank_answer(
        self: &Arc<Self>,
        answer: crate::git::Answer,
        main: Option<TaskId>,
        asking: &Asking,
    ) -> Result<GitToolResult, Error> {
        let host = Arc::clone(self);
        let asking = asking.clone();
        super::run::off_the_loop(move || {
            let stderr_preview = match &main {
                Some(task) if asking.shows_stderr => {
                    let head = host.run_output(task, Stream::Stderr, limits::GIT_STDERR_BYTES as u64)?;
                    Some(preview_of(&head, limits::DEFAULT_PREVIEW_UNITS).preview)
                }
                _ => None,
            };
            let raw = match &main {
                Some(task) => Some(host.vault()?.stream(task, Stream::Stdout)?),
                None => None,
            };
            let what = What { kind: "git-output".into(), label: asking.tool, session_id: asking.session_id };
            let (output, shown) =
                host.bank_written(what, limits::DEFAULT_PREVIEW_UNITS, |kept| match raw {
                    Some(mut raw) => answer.render(&mut raw, kept),
                    None => answer.render(&mut std::io::empty(), kept),
                })?;
            Ok(GitToolResult {
                ok: answer.ok(),
                exit_code: answer.exit_code(),
                state: answer.state(),
                command: answer.command,
                preview: shown.preview,
                read_back_hint: read_back_hint_from(&output.artifact_id, shown.covered),
                output,
                stderr_preview,
            })
        })
        .await
    }
}

/// What the kernel holds a run to, where it can: nothing but git and what it runs of itself is executed, only the
/// directories that the run names are read and written, and there is no network. The first wall is the git stage's own;
/// a kernel without this one changes no answer.
fn second_wall(invocation: &Invocation) -> Option<Rules> {
    let texts =
        |paths: &[PathBuf]| paths.iter().filter_map(|path| path.to_str()).map(str::to_owned).collect();
    let wanted = Confinement {
        level: Level::BestEffort,
        execute: Some(Execute::Listed(invocation.argv.first().cloned().into_iter().collect())),
        read: Some(texts(&invocation.reads)),
        write: Some(texts(&invocation.writes)),
        network: Network::None,
        own_signals: true,
        keep_tmp: false,
    };
    let (programs, allowed) = (ProgramTable::build(Vec::new(), None), Closure::default());
    let ground = Ground {
        root: Path::new("/"),
        programs: &programs,
        allowed: &allowed,
        held: &[],
        program: None,
        env: &invocation.env,
    };
    confinement::resolve(&wanted, None, &ground, Kernel::probe()).ok().map(|resolved| resolved.rules)
}

/// The git stage looks at the repository's files itself.
async fn on_disk(
    mut session: Session,
    step: impl FnOnce(&mut Session) -> Result<Step, GitError> + Send + 'static,
) -> Result<(Session, Step), Error> {
    super::run::off_the_loop(move || {
        let step = step(&mut session)?;
        Ok((session, step))
    })
    .await
}
