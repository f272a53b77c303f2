//! What holds a tree: a Landlock ruleset and a seccomp filter, made here, in the keeper; the child applies them to itself.
//!
//! Landlock says which files may be executed, read and written, which TCP ports reached, which processes signalled. The
//! filter says which system calls there are at all, and closes what Landlock leaves open: other sockets, memory files
//! that could be executed, attributes of files, other processes' limits. What neither reaches is in
//! `docs/confinement.md`.

#[macro_use]
mod program;
mod filter;
mod filter_lists;
#[cfg(test)]
mod interpreter;
mod ruleset;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use self::ruleset::Built;
use crate::confinement::Rules;
use crate::os::process::Pid;
use crate::os::spawn::{Confinement, Program, SpawnFailure, Waiting, spawn};

/// Ready for the child.
#[derive(Debug)]
pub struct Prepared {
    ruleset: Option<OwnedFd>,
    filter: Option<Vec<libc::sock_filter>>,
    waiting: Option<Waiting>,
}

/// Makes what `rules` say. Fails rather than make less.
pub fn prepare(rules: &Rules) -> io::Result<Prepared> {
    Ok(Prepared {
        ruleset: if rules.landlock { Some(ruleset::build(rules)?) } else { None },
        filter: rules.filter.then(|| filter::build(rules)),
        waiting: None,
    })
}

impl Prepared {
    /// Starts `program` under it.
    pub fn start(self, program: &Program<'_>) -> Result<Pid, SpawnFailure> {
        let ruleset = self.ruleset.as_ref().map(|fd| fd.as_fd());
        let confinement = Some(Confinement { ruleset, filter: self.filter.as_deref() });
        let program = Program { confinement, ..*program };
        let started = self.waiting.and_then(|waiting| waiting.start(&program));
        started.unwrap_or_else(|| spawn(&program))
    }
}

/// All of it that doesn't depend on the command, made before there is one.
#[derive(Debug)]
pub struct Ahead {
    rules: Rules,
    ruleset: Option<Built>,
    filter: Option<Vec<libc::sock_filter>>,
    waiting: Option<Waiting>,
}

impl Ahead {
    /// For a command that is held to `rules`, wherever its temporary directory is. As much as there is time for: once
    /// `is_wanted` the command makes the rest itself, which costs it less than waiting for it here.
    pub fn make(rules: Rules, is_wanted: impl Fn() -> bool) -> io::Result<Option<Self>> {
        if is_wanted() {
            return Ok(None);
        }
        let ruleset = if rules.landlock { Some(ruleset::build_ahead(&rules)?) } else { None };
        let filter = rules.filter.then(|| filter::build(&rules));
        // Without one, also where none can be had, the command makes its own.
        let waiting = if is_wanted() { None } else { Waiting::new(filter.as_deref()).ok() };
        Ok(Some(Self { rules, ruleset, filter, waiting }))
    }

    /// What [`prepare`] makes of `rules`. Used is what is the same as if it were made now: nothing where the rules are others,
    /// no ruleset where a place that they name has been replaced since.
    pub fn prepare(self, rules: &Rules) -> io::Result<Prepared> {
        if !self.rules.hold_as(rules) {
            drop(self);
            return prepare(rules);
        }
        let Self { ruleset, filter, waiting, .. } = self;
        let complete = match ruleset {
            Some(built) => built.complete(rules)?,
            None => None,
        };
        let ruleset = match complete {
            None if rules.landlock => Some(ruleset::build(rules)?),
            complete => complete,
        };
        Ok(Prepared { ruleset, filter, waiting })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Nothing for Landlock.
    fn rules(own_signals: bool) -> Rules {
        Rules { own_signals, landlock: false, ..Rules::of_nothing() }
    }

    fn steps(filter: Option<&Vec<libc::sock_filter>>) -> Vec<(u16, u8, u8, u32)> {
        filter.into_iter().flatten().map(|step| (step.code, step.jt, step.jf, step.k)).collect()
    }

    #[test]
    fn nothing_is_begun_once_a_command_waits_for_it() {
        assert!(Ahead::make(rules(true), || true).unwrap().is_none());
        let asked = Cell::new(0);
        let comes_meanwhile = || asked.replace(asked.get() + 1) > 0;
        let ahead = Ahead::make(rules(true), comes_meanwhile).unwrap().unwrap();
        assert!(ahead.waiting.is_none() && ahead.filter.is_some());
    }

    #[test]
    fn a_filter_that_was_made_for_other_rules_is_not_used() {
        let asked = Cell::new(0);
        for (wanted, made_for) in [(true, true), (true, false), (false, true)] {
            asked.set(0);
            let comes_meanwhile = || asked.replace(asked.get() + 1) > 0;
            let ahead = Ahead::make(rules(made_for), comes_meanwhile).unwrap().unwrap();
            let prepared = ahead.prepare(&rules(wanted)).unwrap();
            let anew = prepare(&rules(wanted)).unwrap();
            assert_eq!(steps(prepared.filter.as_ref()), steps(anew.filter.as_ref()));
        }
        let [one, other] = [true, false].map(|own| prepare(&rules(own)).unwrap());
        assert_ne!(steps(one.filter.as_ref()), steps(other.filter.as_ref()));
    }
}
