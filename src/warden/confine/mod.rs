//! What holds a tree: a Landlock ruleset and seccomp filters, made here, in the keeper; the child applies them to itself.
//!
//! Landlock says which files may be executed, read and written, which TCP ports reached, which processes signalled. The
//! filters say which system calls there are at all, and close what Landlock leaves open: other sockets, memory files
//! that could be executed, attributes of files, other processes' limits. What neither reaches is in
//! `docs/confinement.md`.

mod filter;
mod filter_lists;
mod ruleset;
pub mod sweep;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::confinement::Rules;
use crate::os::spawn::Confinement;

/// Ready for the child.
#[derive(Debug)]
pub struct Prepared {
    ruleset: Option<OwnedFd>,
    filters: Vec<Vec<libc::sock_filter>>,
}

/// Makes what `rules` say. Fails rather than make less.
pub fn prepare(rules: &Rules) -> io::Result<Prepared> {
    Ok(Prepared {
        ruleset: if rules.landlock { Some(ruleset::build(rules)?) } else { None },
        filters: if rules.filter { filter::build(rules)? } else { Vec::new() },
    })
}

impl Prepared {
    /// As the child takes it.
    pub fn borrow(&self) -> Confinement<'_> {
        Confinement { ruleset: self.ruleset.as_ref().map(|fd| fd.as_fd()), filters: &self.filters }
    }
}
