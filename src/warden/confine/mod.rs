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

use crate::confinement::Rules;
use crate::os::spawn::Confinement;

/// Ready for the child.
#[derive(Debug)]
pub struct Prepared {
    ruleset: Option<OwnedFd>,
    filter: Option<Vec<libc::sock_filter>>,
}

/// Makes what `rules` say. Fails rather than make less.
pub fn prepare(rules: &Rules) -> io::Result<Prepared> {
    Ok(Prepared {
        ruleset: if rules.landlock { Some(ruleset::build(rules)?) } else { None },
        filter: rules.filter.then(|| filter::build(rules)),
    })
}

impl Prepared {
    /// As the child takes it.
    pub fn borrow(&self) -> Confinement<'_> {
        Confinement { ruleset: self.ruleset.as_ref().map(|fd| fd.as_fd()), filter: self.filter.as_deref() }
    }
}
