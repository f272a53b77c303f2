//! The decision about one start, as far as it needs no look at the machine.

use super::argv::Argv;
use super::budget::Budget;
use super::confinement::{Confinement, Wish};
use super::environment::Environment;
use super::error::PolicyError;
use super::narrowing::Ground;
use super::pattern::NearestPattern;
use super::request::{StartOptions, StartRequest};
use super::resource::ResourceLimits;
use super::rules::Policy;
use super::size;
use crate::input::{Field, Value};

/// What still has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A pattern allows it, or the policy has neither patterns nor `approve`.
    Allowed,
    /// No pattern allows it: `approve` must.
    NeedsApproval,
}

/// What the pure rules let through. Only [`Policy::decide`] makes one; working directory, program and hooks are
/// still to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate(CandidateParts);

/// What a [`Candidate`] holds, for the stages that take it apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateParts {
    /// argv, unchanged.
    pub argv: Vec<String>,
    /// Which of [`Policy::executables`] argv[0] is.
    pub executable: usize,
    /// The working directory as given; `None` is the root.
    pub cwd: Option<String>,
    /// The environment as `NAME=VALUE`, each name once.
    pub env: Vec<String>,
    /// The environment's names, for whoever approves.
    pub env_names: Vec<String>,
    /// Time and output.
    pub budget: Budget,
    /// What the kernel holds it to.
    pub limits: ResourceLimits,
    /// What the kernel holds its tree to.
    pub confinement: Option<Confinement>,
    /// Whether the start's own `env` names a TMPDIR.
    pub own_tmpdir: bool,
    /// What its standard input gives, else end of file.
    pub input: Option<Vec<u8>>,
    /// A short name for people.
    pub label: String,
    /// The session that asks.
    pub session_id: Option<String>,
    /// What still has to be asked.
    pub standing: Standing,
    /// The pattern that allows it: its name, or without one the pattern itself.
    pub pattern: Option<String>,
}

impl Candidate {
    /// What it holds.
    pub fn parts(&self) -> &CandidateParts {
        &self.0
    }

    /// What it holds, taken out.
    pub fn into_parts(self) -> CandidateParts {
        self.0
    }
}

impl Policy {
    /// Decides in the order that `docs/policy.md` shows. `host_env` is `process.env`, read through JavaScript.
    pub fn decide(&self, request: &StartRequest<'_>, host_env: &Value) -> Result<Candidate, PolicyError> {
        let argv = Argv::read(request.argv)?;
        let executable =
            self.executables.find(argv.name()).ok_or_else(|| self.executables.refusal(argv.name()))?;
        let mut options = StartOptions::read(request.options)?;
        let budget = self.budgets.grant(options.timeout_ms, options.max_output_bytes)?;
        let environment = Environment::resolve(options.env, &self.inherit_env, host_env)?;
        let confinement = self.confined(options.confinement.take())?;
        size::check(&argv, &environment)?;
        let (standing, pattern) = self.standing(&argv)?;
        Ok(Candidate(CandidateParts {
            executable,
            cwd: options.cwd.map(str::to_owned),
            env: environment.to_entries(),
            env_names: environment.names(),
            budget,
            limits: self.limits,
            confinement,
            own_tmpdir: *options.env != Value::Absent && environment.has("TMPDIR"),
            input: options.input.map(<[u8]>::to_vec),
            label: options.label_for(&argv),
            session_id: options.session_id.map(str::to_owned),
            standing,
            pattern,
            argv: argv.to_owned_entries(),
        }))
    }

    fn confined(&self, asked: Option<(Field<'_>, Wish)>) -> Result<Option<Confinement>, PolicyError> {
        match (asked, &self.confinement) {
            (None, base) => Ok(base.clone()),
            (Some((field, wish)), None) => wish.alone(&field).map(Some).map_err(PolicyError::BadOption),
            (Some((_, wish)), Some(base)) => {
                let allowed = self.executables().iter().map(|entry| entry.name().to_owned()).collect();
                wish.within(base, &Ground { cwd_root: &self.cwd_root, allowed }).map(Some)
            }
        }
    }

    fn standing(&self, argv: &Argv<'_>) -> Result<(Standing, Option<String>), PolicyError> {
        let patterns = self.patterns.as_deref().unwrap_or_default();
        if let Some(pattern) = patterns.iter().find(|pattern| pattern.matches(argv.entries())) {
            return Ok((Standing::Allowed, Some(pattern.title())));
        }
        match (&self.patterns, self.approve) {
            // A host that gives `approve` alone wants to be asked: without patterns none has matched.
            (_, true) => Ok((Standing::NeedsApproval, None)),
            (None, false) => Ok((Standing::Allowed, None)),
            (Some(patterns), false) => Err(PolicyError::CommandNotAllowed {
                argv: argv.shown(),
                nearest: NearestPattern::find(patterns, argv.entries()),
            }),
        }
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
