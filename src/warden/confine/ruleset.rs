//! The Landlock ruleset.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use landlock::{
    AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};
use nix::errno::Errno;

use crate::confinement::{Net, Place, Rules};
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

/// Makes the ruleset; every part of it or none.
pub(super) fn build(rules: &Rules) -> io::Result<OwnedFd> {
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
    let ruleset = ruleset.create().map_err(failed)?;
    let mut builder = Builder { handled: handled(rules), root: File::open("/")?, ruleset };
    for place in rules.execute.iter().flatten() {
        builder.allow(place, reading() | AccessFs::Execute)?;
    }
    for place in rules.read.iter().flatten() {
        builder.allow(place, reading())?;
    }
    match &rules.write {
        None => builder.allow(&Place { path: "/".into(), dir: true }, AccessFs::Refer.into())?,
        Some(places) => {
            for place in places {
                builder.allow(place, reading() | writing(rules) | AccessFs::Refer)?;
            }
        }
    }
    let mut ruleset = builder.ruleset;
    if let Net::ConnectTcp(ports) = &rules.network {
        for port in ports {
            ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(failed)?;
        }
    }
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
}

struct Builder {
    handled: Rights,
    root: File,
    ruleset: RulesetCreated,
}

impl Builder {
    /// Gives `rights` to `place`, by its real path: a link that has been put there is not followed. What is gone, or is no
    /// directory any more, gets nothing.
    fn allow(&mut self, place: &Place, rights: Rights) -> io::Result<()> {
        let rights = rights & self.handled & if place.dir { Rights::all() } else { of_files() };
        if rights.is_empty() {
            return Ok(());
        }
        let path = Path::new(&place.path);
        let below = path.strip_prefix("/").ok().filter(|below| !below.as_os_str().is_empty());
        let below = below.unwrap_or(Path::new("."));
        let kind = if place.dir { Kind::Directory } else { Kind::Any };
        let opened = match open_place(self.root.as_fd(), below, kind, Reach::BeneathWithoutLinks) {
            Ok(opened) => opened,
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EACCES) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        (&mut self.ruleset)
            .add_rule(PathBeneath::new(opened, rights))
            .map_err(|error| io::Error::other(format!("a Landlock rule for {}: {error}", place.path)))?;
        Ok(())
    }
}
