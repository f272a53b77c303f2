//! The Landlock ruleset.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use landlock::{
    AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use nix::errno::Errno;
use nix::sys::stat::{fstat, lstat};

use crate::confinement::{Net, Place, Rules};
use crate::os::landlock::add_path_rule;
use crate::os::path::{Kind, Reach, open_place};

type Rights = BitFlags<AccessFs>;

/// Rights that a rule about a file may have; the others make it `EINVAL` (`landlock_add_rule(2)`).
fn of_files() -> Rights {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
}

fn reading() -> Rights {
    AccessFs::ReadFile | AccessFs::ReadDir
}

/// Device nodes are not among them: whoever may make one may write the disk behind it.
fn writing(rules: &Rules) -> Rights {
    let always = AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::MakeFifo
        | AccessFs::MakeSock
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir;
    if rules.device_ioctls { always | AccessFs::IoctlDev } else { always }
}

/// What is refused but where a rule gives it. REFER is always among them: a domain that doesn't name it can't rename
/// across directories at all (`landlock(7)`).
fn handled(rules: &Rules) -> Rights {
    let mut handled = AccessFs::Refer | AccessFs::MakeBlock | AccessFs::MakeChar;
    if rules.execute.is_some() {
        handled |= AccessFs::Execute;
    }
    if rules.read.is_some() {
        handled |= reading();
    }
    if rules.write.is_some() {
        handled |= writing(rules);
    }
    handled
}

/// A ruleset, and what its rules were made for.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) ruleset: OwnedFd,
    seen: Vec<Seen>,
}

/// What a place was.
#[derive(Debug)]
struct Seen {
    path: CString,
    /// The file that has the rule; `None` where there was nothing to have one.
    file: Option<(u64, u64)>,
}

/// Device and inode of what `path` names; a link at its end is what it names.
fn file_at(path: &CStr) -> Option<(u64, u64)> {
    lstat(path).ok().map(|found| (found.st_dev, found.st_ino))
}

/// Makes the ruleset; every part of it or none.
pub(super) fn build(rules: &Rules) -> io::Result<OwnedFd> {
    let ruleset = empty(rules)?;
    let root = File::open("/")?;
    for grant in grants(rules) {
        grant.add(&ruleset, &root)?;
    }
    add_tmp(&ruleset, rules)?;
    Ok(ruleset)
}

/// Makes it without the temporary directory, some time before it is used.
pub(super) fn build_ahead(rules: &Rules) -> io::Result<Built> {
    let ruleset = empty(rules)?;
    let root = File::open("/")?;
    let mut seen = Vec::new();
    for grant in grants(rules) {
        let opened = grant.add(&ruleset, &root)?;
        let file = opened.map(fstat).transpose()?.map(|found| (found.st_dev, found.st_ino));
        seen.push(Seen { path: CString::new(grant.path)?, file });
    }
    Ok(Built { ruleset, seen })
}

impl Built {
    /// The ruleset for `rules`, which hold as those did that it was made for. `None` when a place is no longer what it was
    /// then, or is what gets no rule, such as a link: it has to be made anew.
    ///
    /// A rule keeps its inode in memory (`get_inode_object` in `security/landlock/fs.c`), so no other file has its number
    /// meanwhile. Only a file of another file system, mounted where that one was unmounted, could have the numbers of both,
    /// and it is granted nothing. Where a directory above was moved and a link to it put in its place, the name still leads
    /// to the very inode that the rule is about.
    pub(super) fn complete(self, rules: &Rules) -> io::Result<Option<OwnedFd>> {
        if self.seen.iter().any(|seen| file_at(&seen.path) != seen.file) {
            return Ok(None);
        }
        add_tmp(&self.ruleset, rules)?;
        Ok(Some(self.ruleset))
    }
}

fn empty(rules: &Rules) -> io::Result<OwnedFd> {
    let failed =
        |error: landlock::RulesetError| io::Error::other(format!("making a Landlock ruleset: {error}"));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(handled(rules))
        .map_err(failed)?;
    if matches!(rules.network, Net::ConnectTcp(_)) {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp).map_err(failed)?;
    }
    if rules.own_signals {
        ruleset = ruleset.scope(Scope::Signal).map_err(failed)?;
    }
    let mut ruleset = ruleset.create().map_err(failed)?;
    if let Net::ConnectTcp(ports) = &rules.network {
        for port in ports {
            ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(failed)?;
        }
    }
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
}

/// The temporary directory, which is one command's alone.
fn add_tmp(ruleset: &OwnedFd, rules: &Rules) -> io::Result<()> {
    let Some(path) = &rules.tmp else { return Ok(()) };
    let mut rights = Rights::EMPTY;
    if rules.read.is_some() {
        rights |= reading();
    }
    if rules.write.is_some() {
        rights |= to_write(rules);
    }
    Grant { path, dir: true, rights: rights & handled(rules) }.add(ruleset, &File::open("/")?).map(drop)
}

/// What a place that may be written gets.
fn to_write(rules: &Rules) -> Rights {
    reading() | writing(rules) | AccessFs::Refer
}

/// What one place gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grant<'r> {
    path: &'r str,
    dir: bool,
    rights: Rights,
}

/// Each place once, with all that it gets, and without those that get nothing beyond what a place above them does:
/// every rule costs the start of every command.
fn grants(rules: &Rules) -> Vec<Grant<'_>> {
    let handled = handled(rules);
    let lists = [
        (&rules.execute, reading() | AccessFs::Execute),
        (&rules.read, reading()),
        (&rules.write, to_write(rules)),
    ];
    let mut grants: Vec<Grant<'_>> = Vec::new();
    for (places, rights) in lists {
        for Place { path, dir } in places.iter().flatten() {
            let rights = rights & handled & if *dir { Rights::all() } else { of_files() };
            grants.push(Grant { path, dir: *dir, rights });
        }
    }
    if rules.write.is_none() {
        grants.push(Grant { path: "/", dir: true, rights: AccessFs::Refer.into() });
    }
    grants.sort_unstable_by(|a, b| (a.path, a.dir).cmp(&(b.path, b.dir)));
    grants.dedup_by(|next, first| {
        let same = (next.path, next.dir) == (first.path, first.dir);
        if same {
            first.rights |= next.rights;
        }
        same
    });
    let above = |grant: &Grant<'_>| {
        let ancestors = Path::new(grant.path).ancestors().skip(1).filter_map(Path::to_str);
        let mut found = ancestors.filter_map(|path| {
            grants.binary_search_by(|other| (other.path, other.dir).cmp(&(path, true))).ok()
        });
        found.any(|at| grants[at].rights.contains(grant.rights))
    };
    grants.iter().filter(|grant| !above(grant)).copied().collect()
}

impl Grant<'_> {
    /// By the real path: a link that has been put there is not followed. What is gone, or is no directory any more, gets
    /// nothing. Gives what was opened for it.
    fn add(&self, ruleset: &OwnedFd, root: &File) -> io::Result<Option<OwnedFd>> {
        if self.rights.is_empty() {
            return Ok(None);
        }
        let path = Path::new(self.path);
        let below = path.strip_prefix("/").ok().filter(|below| !below.as_os_str().is_empty());
        let below = below.unwrap_or(Path::new("."));
        let kind = if self.dir { Kind::Directory } else { Kind::Any };
        let opened = match open_place(root.as_fd(), below, kind, Reach::BeneathWithoutLinks) {
            Ok(opened) => opened,
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EACCES) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        add_path_rule(ruleset.as_fd(), opened.as_fd(), self.rights.bits()).map_err(|error| {
            io::Error::new(error.kind(), format!("a Landlock rule for {}: {error}", self.path))
        })?;
        Ok(Some(opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(read: Option<&[&str]>, write: Option<&[&str]>) -> Rules {
        let places = |paths: Option<&[&str]>| {
            let place = |path: &&str| Place { path: (*path).into(), dir: !path.contains('.') };
            paths.map(|paths| paths.iter().map(place).collect())
        };
        Rules { read: places(read), write: places(write), ..Rules::of_nothing() }
    }

    #[test]
    fn a_place_is_granted_once_with_all_that_it_gets() {
        let rules = rules(Some(&["/w", "/usr", "/w", "/dev/null.x"]), Some(&["/dev/null.x", "/w"]));
        let grants = grants(&rules);
        let paths: Vec<_> = grants.iter().map(|grant| grant.path).collect();
        assert_eq!(paths, ["/dev/null.x", "/usr", "/w"]);
        assert_eq!(grants[0].rights, (reading() | writing(&rules)) & of_files());
        assert_eq!(grants[2].rights, reading() | writing(&rules) | AccessFs::Refer);
    }

    #[test]
    fn what_a_place_above_already_gives_is_left_out_and_nothing_else() {
        let rules = rules(Some(&["/usr", "/usr/bin/true.x", "/usr-x", "/w/sub", "/w"]), Some(&["/w/sub"]));
        let paths: Vec<_> = grants(&rules).iter().map(|grant| grant.path).collect();
        assert_eq!(paths, ["/usr", "/usr-x", "/w", "/w/sub"], "more below less stays");
    }

    #[test]
    fn without_a_list_of_what_is_written_renames_go_on_everywhere() {
        let rules = rules(None, None);
        let refer = Grant { path: "/", dir: true, rights: AccessFs::Refer.into() };
        assert_eq!(grants(&rules), [refer]);
    }
}
