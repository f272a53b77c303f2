//! One start, from what was asked to what is handed over: the whole order of the checks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use nix::sys::stat::{Mode, mkdirat};

use super::error::HostError;
use super::questions::{Hook, HookRequest};
use crate::confinement::{self, Ground, Kernel, Resolved};
use crate::error::Error;
use crate::input::Value;
use crate::os::file;
use crate::policy::{CandidateParts, Policy, Standing, StartRequest};
use crate::program::{Closure, ExecBy as ProgramExec, Located, ProgramTable, ResolvedProgram, WantedProgram};
use crate::sandbox::{ConfinedDir, WorkspaceRoot};
use crate::supervisor::launch::Handover;
use crate::vault::id::TaskId;
use crate::vault::layout;
use crate::vault::record::CommandFile;
use crate::vault::store::NewTask;
use crate::warden::protocol::{ExecBy, Limits, Specification};

/// A policy in force, with the programs that its names stand for.
#[derive(Debug)]
pub struct ActivePolicy {
    /// The rules.
    pub rules: Policy,
    /// The programs.
    pub programs: ProgramTable,
    /// What all of them need to be executed, for the confinement that asks first.
    closure: OnceLock<Closure>,
    /// Where the absolute paths of its confinement lead.
    held: Vec<(String, PathBuf)>,
}

impl ActivePolicy {
    /// From what `setBackgroundCommandPolicy` was given; names are resolved on the PATH of `env`.
    pub fn set(policy: &Value, env: &Value) -> Result<Self, Error> {
        let rules = Policy::parse(policy)?;
        let wanted = rules
            .executables()
            .iter()
            .map(|entry| WantedProgram { name: entry.name().to_owned(), sha256: entry.sha256().copied() })
            .collect();
        let programs = ProgramTable::build(wanted, env.text_at("PATH"));
        let held = rules.confinement().map(confinement::hold).unwrap_or_default();
        Ok(Self { programs, rules, closure: OnceLock::new(), held })
    }

    /// What its confinement lets commands write that `path` lies below.
    pub fn writes(&self, path: &Path) -> Option<PathBuf> {
        let root = std::fs::canonicalize(self.rules.cwd_root()).ok()?;
        let given = self.rules.confinement()?.write.as_ref()?;
        let real = |given: &String| match self.held.iter().find(|(known, _)| known == given) {
            Some((_, real)) => Some(real.clone()),
            None => std::fs::canonicalize(root.join(given)).ok(),
        };
        given.iter().filter_map(real).find(|real| path.starts_with(real))
    }

    /// Whether any program is compared with a digest, which reads it whole.
    pub fn has_pins(&self) -> bool {
        self.rules.executables().iter().any(|entry| entry.sha256().is_some())
    }
}

/// A start whose checks have passed but for the hooks, holding what was checked.
#[derive(Debug)]
pub struct Prepared {
    /// The policy that decided.
    pub policy: Arc<ActivePolicy>,
    /// What was asked, as the rules let it through.
    pub parts: CandidateParts,
    cwd: ConfinedDir,
    /// What runs, or why nothing can.
    pub program: Located,
    approved: bool,
    confinement: Option<Resolved>,
    tmp_dir: Option<String>,
}

/// What a start still needs.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The word of a hook.
    Ask(Hook),
    /// Nothing.
    Launch,
}

impl Prepared {
    /// Runs the checks in their order: argv, executable, options, patterns; working directory; program.
    pub fn check(
        policy: Arc<ActivePolicy>,
        argv: &Value,
        options: &Value,
        env: &Value,
    ) -> Result<Self, Error> {
        let candidate = policy.rules.decide(&StartRequest { argv, options }, env)?;
        let parts = candidate.into_parts();
        let root = WorkspaceRoot::open(policy.rules.cwd_root())?;
        let cwd = ConfinedDir::open(&root, parts.cwd.as_deref())?;
        let program = policy.programs.locate(parts.executable, &root, &cwd)?;
        let approved = parts.standing == Standing::Allowed;
        let confinement = confine(&policy, &parts, &root, &program)?;
        Ok(Self { policy, parts, cwd, program, approved, confinement, tmp_dir: None })
    }

    /// Gives a confined command a temporary directory in `folder`, its own one in the vault, unless its environment
    /// names another.
    pub fn place_tmp(&mut self, folder: &Path) {
        let Some(Resolved { rules, .. }) = &mut self.confinement else { return };
        let Some(name) = layout::TMP.to_str().ok().filter(|_| !self.parts.own_tmpdir) else { return };
        let Some(path) = folder.join(name).to_str().map(str::to_owned) else { return };
        let keep = self.parts.confinement.as_ref().is_some_and(|confinement| confinement.keep_tmp);
        rules.add_tmp(&path, !keep);
        self.parts.env.retain(|entry| !entry.starts_with("TMPDIR="));
        self.parts.env.push(format!("TMPDIR={path}"));
        self.tmp_dir = Some(path);
    }

    /// Which hook comes first, if any.
    pub fn first(&self) -> Next {
        if self.approved { self.after(Hook::Approve) } else { Next::Ask(Hook::Approve) }
    }

    /// What comes after a hook that said `true`.
    pub fn after(&self, hook: Hook) -> Next {
        match hook {
            Hook::Approve if self.policy.rules.has_allowlist() => Next::Ask(Hook::Allowlist),
            Hook::Approve | Hook::Allowlist => Next::Launch,
        }
    }

    /// What the hooks are shown.
    pub fn hook_request(&self) -> HookRequest {
        HookRequest {
            argv: self.parts.argv.clone(),
            cwd: self.cwd_text(),
            executable: self.executable_text(),
            env_names: self.parts.env_names.clone(),
            timeout_ms: self.parts.budget.timeout_ms,
            max_output_bytes: self.parts.budget.max_output_bytes,
            confinement: self.confinement.as_ref().map(|resolved| resolved.shown.clone()),
            label: self.parts.label.clone(),
            session_id: self.parts.session_id.clone(),
        }
    }

    /// Whether the program is still the one that was looked at: a hook may have taken its time.
    pub fn recheck(&self) -> Result<(), Error> {
        match &self.program {
            Located::Found(program) => Ok(program.verify()?),
            Located::Unstartable(_) => Ok(()),
        }
    }

    fn cwd_text(&self) -> String {
        self.cwd.path().to_string_lossy().into_owned()
    }

    /// The file that runs, or would if it could.
    pub fn executable_text(&self) -> String {
        let path = match &self.program {
            Located::Found(program) => Some(program.path()),
            Located::Unstartable(unstartable) => unstartable.path(),
        };
        path.map_or_else(|| self.parts.argv[0].clone(), |path| path.to_string_lossy().into_owned())
    }

    /// `command.json` of this start.
    pub fn command_file(&self, task: &TaskId, started_at: u64, queued: bool) -> CommandFile {
        CommandFile {
            task_id: task.to_string(),
            label: self.parts.label.clone(),
            argv: self.parts.argv.clone(),
            cwd: self.cwd_text(),
            executable: self.executable_text(),
            session_id: self.parts.session_id.clone(),
            started_at,
            timeout_ms: self.parts.budget.timeout_ms,
            max_output_bytes: self.parts.budget.max_output_bytes,
            queued,
            host_pid: std::process::id(),
            confinement: self.confinement.as_ref().map(|resolved| resolved.rules.confined.clone()),
            tmp_dir: self.tmp_dir.clone(),
            keep_tmp: self.parts.confinement.as_ref().is_some_and(|confinement| confinement.keep_tmp),
        }
    }

    /// What the warden is handed. `Err` with the program's reason when it can't be started at all.
    pub fn into_handover(self, task: &TaskId, files: NewTask, sync: bool) -> Result<Handover, Unstarted> {
        let Self { parts, cwd, program, confinement, tmp_dir, .. } = self;
        let program = match program {
            Located::Found(program) => program,
            Located::Unstartable(unstartable) => {
                return Err(Unstarted { files, why: Why::Program(unstartable.to_string()) });
            }
        };
        let (exec, program) = match exec_by(program) {
            Ok(exec) => exec,
            Err(why) => return Err(Unstarted { files, why: Why::Program(why) }),
        };
        let input = match parts.input.as_deref().map(file::sealed_memory).transpose() {
            Ok(input) => input,
            Err(source) => return Err(Unstarted { files, why: Why::Resources(source) }),
        };
        if tmp_dir.is_some()
            && let Err(errno) = mkdirat(&files.folder, layout::TMP, Mode::S_IRWXU)
        {
            return Err(Unstarted { files, why: Why::Resources(errno.into()) });
        }
        let budget = parts.budget;
        Ok(Handover {
            specification: Specification {
                task_id: task.to_string(),
                argv: parts.argv,
                env: parts.env,
                exec,
                timeout_ms: budget.timeout_ms,
                kill_grace_ms: budget.kill_grace_ms,
                stray_grace_ms: budget.stray_grace_ms,
                max_output_bytes: budget.max_output_bytes,
                max_total_output_bytes: budget.max_total_output_bytes,
                has_input: input.is_some(),
                limits: Limits {
                    cpu_seconds: parts.limits.cpu_seconds,
                    address_space_bytes: parts.limits.address_space_bytes,
                    memory_bytes: parts.limits.memory_bytes,
                    processes: parts.limits.processes,
                    open_files: parts.limits.open_files,
                    file_size_bytes: parts.limits.file_size_bytes,
                },
                confinement: confinement.map(|resolved| resolved.rules),
            },
            task: files,
            cwd: cwd.into_fd(),
            program,
            input,
            sync,
        })
    }
}

/// The rules for one start, if it is confined.
fn confine(
    policy: &ActivePolicy,
    parts: &CandidateParts,
    root: &WorkspaceRoot,
    program: &Located,
) -> Result<Option<Resolved>, Error> {
    let Some(wanted) = &parts.confinement else { return Ok(None) };
    let ground = Ground {
        root: root.path(),
        programs: &policy.programs,
        allowed: policy.closure.get_or_init(|| policy.programs.closure(true, [])),
        held: &policy.held,
        program: match program {
            Located::Found(program) => Some(&program.facts().real),
            Located::Unstartable(_) => None,
        },
        env: &parts.env,
    };
    Ok(Some(confinement::resolve(wanted, policy.rules.confinement(), &ground, Kernel::probe())?))
}

/// A start that ends here, with the folder that was made for it.
#[derive(Debug)]
pub struct Unstarted {
    /// The folder.
    pub files: NewTask,
    /// The reason.
    pub why: Why,
}

/// Why it ends here.
#[derive(Debug)]
pub enum Why {
    /// The program can't be started: a settled command.
    Program(String),
    /// This process has no room: a refusal.
    Resources(std::io::Error),
}

/// How the keeper execs the program, with the descriptor that it needs for that.
fn exec_by(program: ResolvedProgram) -> Result<(ExecBy, Option<std::os::fd::OwnedFd>), String> {
    let by_descriptor = matches!(program.exec_by(), ProgramExec::Descriptor(_));
    let (facts, file) = program.into_parts();
    let Some(path) = facts.path.to_str().map(str::to_owned) else {
        return Err(format!("could not be started: the path {} is not valid UTF-8", facts.path.display()));
    };
    Ok(match facts.pin {
        _ if by_descriptor => (ExecBy::Descriptor(path), Some(file)),
        Some(sha256) => (ExecBy::Checked { path, identity: facts.identity, sha256 }, Some(file)),
        None => (ExecBy::Path(path), None),
    })
}

/// What every start needs of the system, looked for once.
pub fn check_platform() -> Result<(), HostError> {
    static HAS_PROC: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    if let Some(missing) = crate::os::probe::missing_call() {
        let reason = std::io::Error::from_raw_os_error(missing.errno).to_string();
        return Err(HostError::MissingCall { call: missing.name, since: missing.since, reason });
    }
    let has_proc = HAS_PROC.get_or_init(|| std::path::Path::new("/proc/self/stat").exists());
    if *has_proc { Ok(()) } else { Err(HostError::NoProc) }
}
