//! One question from its values to its answer, as a state machine: the host runs what it is handed and feeds back
//! how that ended. Nothing here starts a process or waits, but files are looked at: not for the event loop's thread.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::config::{self, Settings};
use super::error::GitError;
use super::files;
use super::invocation::{Bench, Invocation, Mode, Purpose};
use super::path::Scope;
use super::preflight::Layout;
use super::render::{Preview, Render, Shown};
use super::resolve;
use super::shadow::{Print, Scratch, Shadow};
use super::tool::{Found, Need, Plan, Tool};
use super::toolbox::Shared;
use crate::limits;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited(i32),
    /// By its time budget.
    TimedOut,
    /// By the output cap.
    OutputLimit,
    /// By a signal.
    Killed,
}

/// What the host feeds back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// How it ended.
    pub ending: Ending,
    /// Standard output of a [`Purpose::Resolve`] run; of a main run it is kept elsewhere and this stays empty.
    pub stdout: Vec<u8>,
    /// The beginning of standard error. It is only looked at, never passed on.
    pub stderr: Vec<u8>,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Step {
    /// Run this, then [`Session::feed`].
    Run(Invocation),
    /// The answer, to be rendered from what the main run wrote.
    Done(Answer),
}

/// One question under way.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    tool: Box<dyn Tool>,
    phase: Phase,
    bench: Option<Bench>,
    shadow: Option<Arc<Shadow>>,
    needs: Vec<Need>,
    found: Vec<Found>,
    last_argv: Vec<String>,
}

#[derive(Debug)]
enum Phase {
    Begin,
    Version(Scratch, Layout),
    Config(Scratch, Print),
    Resolve,
    Main(Render),
    Over,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>, tool: Box<dyn Tool>) -> Self {
        Self {
            shared,
            tool,
            phase: Phase::Begin,
            bench: None,
            shadow: None,
            needs: Vec::new(),
            found: Vec::new(),
            last_argv: Vec::new(),
        }
    }

    /// The first step.
    pub fn start(&mut self) -> Result<Step, GitError> {
        let Phase::Begin = std::mem::replace(&mut self.phase, Phase::Over) else { return Err(out_of_turn()) };
        let program = self.shared.program()?;
        let layout = self.shared.inspect()?;
        let scope = Scope {
            root: layout.root.clone(),
            named_root: self.shared.options.repo_root.clone(),
            bare: layout.kind == super::preflight::Kind::Bare,
        };
        self.needs = self.tool.prepare(&scope)?;
        let bench = Bench {
            program: program.to_string_lossy().into_owned(),
            root: layout.root.clone(),
            timeout_ms: self.shared.options.timeout_ms,
            max_output_bytes: self.shared.options.max_output_bytes,
        };
        let bench = self.bench.insert(bench);
        if self.shared.version(&program).is_some() {
            return self.take_shadow(&layout, None);
        }
        let scratch = self.shared.scratch(&layout.root)?;
        let run = bench.apart(&["--version"], &scratch.home(), limits::GIT_RESOLVE_OUTPUT_BYTES);
        self.phase = Phase::Version(scratch, layout);
        Ok(self.run(run))
    }

    /// Takes how the last run ended and gives the next step.
    pub fn feed(&mut self, completed: &Completed) -> Result<Step, GitError> {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Version(scratch, layout) => {
                let answer = answered(completed, "tell its version")?;
                let program = &self.bench()?.program;
                let found = config::version(answer);
                let version = config::require(program, found, limits::GIT_MIN_VERSION, "argvault needs")?;
                self.shared.learn_version(std::path::Path::new(program), version)?;
                self.take_shadow(&layout, Some(scratch))
            }
            Phase::Config(scratch, print) => {
                let listing = answered(completed, "read the repository's configuration")?;
                self.build_shadow(scratch, print, listing)
            }
            Phase::Resolve => {
                let need = self.needs.get(self.found.len()).ok_or_else(out_of_turn)?;
                let found = resolve::read(need, completed, self.tool.name())?;
                self.found.push(found);
                self.resolve()
            }
            Phase::Main(render) => self.answer(completed, render),
            Phase::Begin | Phase::Over => Err(out_of_turn()),
        }
    }

    fn bench(&self) -> Result<&Bench, GitError> {
        self.bench.as_ref().ok_or_else(out_of_turn)
    }

    fn run(&mut self, invocation: Invocation) -> Step {
        self.last_argv.clone_from(&invocation.argv);
        Step::Run(invocation)
    }

    /// Goes on with the shadow that is there, if it still stands for the repository, else begins a new one.
    fn take_shadow(&mut self, layout: &Layout, scratch: Option<Scratch>) -> Result<Step, GitError> {
        let print = Print::take(layout, self.tool.needs_index())?;
        if let Some(shadow) = self.shared.shadow_for(&print) {
            self.shadow = Some(shadow);
            return self.resolve();
        }
        let scratch = match scratch {
            Some(scratch) => scratch,
            None => self.shared.scratch(&layout.root)?,
        };
        let source = scratch.at("config-source");
        if !files::copy(&layout.common_dir.join("config"), &source, limits::GIT_MAX_CONFIG_BYTES)? {
            return self.build_shadow(scratch, print, b"");
        }
        let file = source.to_string_lossy().into_owned();
        let arguments = ["config", "--file", &file, "--no-includes", "--null", "--list"];
        // A listing repeats the section's name at every key.
        let most = limits::GIT_MAX_CONFIG_BYTES * 4;
        let run = self.bench()?.apart(&arguments, &scratch.home(), most);
        self.phase = Phase::Config(scratch, print);
        Ok(self.run(run))
    }

    fn build_shadow(&mut self, scratch: Scratch, print: Print, listing: &[u8]) -> Result<Step, GitError> {
        let settings = Settings::parse(listing)
            .map_err(|problem| GitError::layout(&print.layout().common_dir.join("config"), problem))?;
        if settings.reftable {
            let program = &self.bench()?.program;
            let version = self.shared.version(std::path::Path::new(program));
            let purpose = "its references are in reftables, which need";
            config::require(program, version, limits::GIT_REFTABLE_VERSION, purpose)?;
        }
        let shadow = Arc::new(Shadow::build(scratch, print, settings)?);
        self.shared.keep_shadow(&shadow);
        self.shadow = Some(shadow);
        self.resolve()
    }

    /// Asks for what is still needed, then plans the main run.
    fn resolve(&mut self) -> Result<Step, GitError> {
        let shadow = self.shadow.clone().ok_or_else(out_of_turn)?;
        if let Some(need) = self.needs.get(self.found.len()) {
            let arguments = resolve::arguments(need, &self.found)?;
            let run = self.bench()?.on(&shadow, Mode::History, Purpose::Resolve, arguments);
            self.phase = Phase::Resolve;
            return Ok(self.run(run));
        }
        match self.tool.plan(&self.found)? {
            Plan::Say(said) => Ok(Step::Done(Answer {
                command: self.last_argv.clone(),
                ending: Ending::Exited(0),
                render: Render::Raw,
                said,
                preview_chars: self.shared.options.preview_chars,
            })),
            Plan::Run { arguments, mode, render } => {
                let run = self.bench()?.on(&shadow, mode, Purpose::Main, arguments);
                self.phase = Phase::Main(render);
                Ok(self.run(run))
            }
        }
    }

    fn answer(&mut self, completed: &Completed, render: Render) -> Result<Step, GitError> {
        let said = match completed.ending {
            Ending::Exited(code) if code != 0 => {
                if resolve::lacks_object(&completed.stderr) {
                    return Err(GitError::MissingObject { tool: self.tool.name() });
                }
                self.tool.failure(code)
            }
            _ => "",
        };
        let (command, ending) = (self.last_argv.clone(), completed.ending);
        let preview_chars = self.shared.options.preview_chars;
        Ok(Step::Done(Answer { command, ending, render, said, preview_chars }))
    }
}

/// The output of a preparing run that went well.
fn answered<'c>(completed: &'c Completed, step: &'static str) -> Result<&'c [u8], GitError> {
    match completed.ending {
        Ending::Exited(0) => Ok(&completed.stdout),
        ending => Err(resolve::failed(step, ending)),
    }
}

fn out_of_turn() -> GitError {
    GitError::Failed { step: "go on", how: "was fed out of turn".into() }
}

/// An answer whose text has yet to pass by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The argv that ran last.
    pub command: Vec<String>,
    /// How it ended.
    pub ending: Ending,
    render: Render,
    said: &'static str,
    preview_chars: u64,
}

impl Answer {
    /// Whether git answered.
    pub fn ok(&self) -> bool {
        self.ending == Ending::Exited(0)
    }

    /// git's exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        match self.ending {
            Ending::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// How it ended, in the words of the result.
    pub fn state(&self) -> &'static str {
        match self.ending {
            Ending::Exited(_) => "exited",
            Ending::TimedOut => "timeout",
            Ending::OutputLimit => "output-limit",
            Ending::Killed => "killed",
        }
    }

    /// Whether the text that is kept is what git wrote, byte for byte.
    pub fn is_verbatim(&self) -> bool {
        self.render == Render::Raw && self.said.is_empty()
    }

    /// Turns what the main run wrote (nothing, if there was none) into the text that is kept, and gives its head.
    pub fn render(&self, raw: &mut dyn Read, kept: &mut dyn Write) -> io::Result<Shown> {
        let limit = usize::try_from(self.preview_chars).unwrap_or(usize::MAX);
        let mut preview = Preview::new(kept, limit);
        self.render.run(raw, &mut preview)?;
        if preview.is_empty() {
            preview.write_all(self.said.as_bytes())?;
        }
        Ok(preview.finish())
    }
}
