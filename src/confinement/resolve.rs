//! From names and paths as the host wrote them to the rules for one tree.

use std::path::{Path, PathBuf};

use super::capability::Kernel;
use super::confined::Enforcement;
use super::error::ConfinementError;
use super::rules::{Net, Place, Rules};
use super::shown::{Given, Shown};
use super::system;
use crate::policy::{Confinement, Execute, Network};
use crate::program::{Closure, ProgramTable};

/// What names and paths stand for.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The opened root's real path.
    pub root: &'a Path,
    /// The programs of the policy.
    pub programs: &'a ProgramTable,
    /// What all of `allowedExecutables` need, as found when it was first asked.
    pub allowed: &'a Closure,
    /// Where the policy's absolute paths led when it was set. A link that is put in a place later leads nowhere.
    pub held: &'a [(String, PathBuf)],
    /// The file that is started.
    pub program: Option<&'a Path>,
    /// The command's environment, `NAME=VALUE`.
    pub env: &'a [String],
}

/// One start's confinement.
#[derive(Debug)]
pub struct Resolved {
    /// For the keeper.
    pub rules: Rules,
    /// For people.
    pub shown: Shown,
}

/// The rules for one start under `wanted`, which was narrowed from `base` if there is one.
pub fn resolve(
    wanted: &Confinement,
    base: Option<&Confinement>,
    ground: &Ground<'_>,
    kernel: &Kernel,
) -> Result<Resolved, ConfinementError> {
    let mut confined = kernel.assess(wanted)?;
    let enforced = |standing| standing == Enforcement::Enforced;
    let executables = texts(ground.executables(wanted.execute.as_ref()).paths)?;
    let restricted = enforced(confined.execute);
    confined.executables = restricted.then(|| executables.clone());
    let executables: Vec<_> = executables.into_iter().map(Place::of).collect();
    let execute = restricted.then(|| executables.clone());
    let given_write =
        ground.paths("write", wanted.write.as_ref(), base.and_then(|base| base.write.as_ref()))?;
    let given_read = ground.paths("read", wanted.read.as_ref(), base.and_then(|base| base.read.as_ref()))?;
    let given = Given { execute: &executables, read: &given_read, write: &given_write };
    let shown = Shown::of(wanted, &given, &confined);
    let read = enforced(confined.read).then(|| {
        let system = system::readable(wanted.execute.is_none()).iter().cloned();
        let own = given_read.into_iter().chain(given_write.iter().cloned()).chain(ground.git_settings());
        system.chain(executables).chain(own).collect()
    });
    let attributes_kept = enforced(confined.write) && wanted.write.as_ref().is_some_and(Vec::is_empty);
    let write = enforced(confined.write).then(|| system::writable().chain(given_write).collect());
    let network = match &wanted.network {
        _ if !enforced(confined.network) => Net::Host,
        Network::Host => Net::Host,
        Network::None => Net::None,
        Network::ConnectTcp(ports) => Net::ConnectTcp(ports.clone()),
    };
    let rules = Rules {
        execute,
        read,
        write,
        attributes_kept,
        network,
        own_signals: enforced(confined.signals),
        device_ioctls: kernel.landlock_abi >= 5,
        landlock: enforced(confined.syscalls),
        filter: kernel.seccomp,
        tmp: None,
        remove_tmp: false,
        confined,
    };
    Ok(Resolved { rules, shown })
}

impl Ground<'_> {
    /// What git reads of its user's settings: it gives up on one that is there and can't be read. Not
    /// `credentials`, which lies beside them.
    fn git_settings(&self) -> Vec<Place> {
        let variable =
            |name: &str| self.env.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
        let home = variable("HOME").map(PathBuf::from);
        let config = variable("XDG_CONFIG_HOME")
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from)
            .or_else(|| home.as_ref().map(|home| home.join(".config")));
        let own = home.map(|home| home.join(".gitconfig"));
        let shared = ["attributes", "config", "ignore"];
        let shared = config.into_iter().flat_map(|dir| shared.map(|name| dir.join("git").join(name)));
        let files = own.into_iter().chain(shared).filter(|path| path.is_absolute());
        // A file, not a directory that somebody has put in its place.
        let real = files.filter_map(|path| std::fs::canonicalize(path).ok()).filter(|path| path.is_file());
        real.filter_map(|path| Some(Place { path: path.into_os_string().into_string().ok()?, dir: false }))
            .collect()
    }

    fn executables(&self, execute: Option<&Execute>) -> Closure {
        match execute {
            Some(Execute::Listed(names)) => self.programs.closure(false, names.iter().map(String::as_str)),
            Some(Execute::Allowed) | None => {
                let mut all = self.allowed.clone();
                // One that depends on the working directory, or that wasn't there at first.
                if let Some(program) =
                    self.program.filter(|program| !all.paths.iter().any(|path| path == program))
                {
                    let more = self.programs.closure(false, program.to_str());
                    all.paths.extend(more.paths);
                }
                all
            }
        }
    }

    /// What the entries of a list lead to. What isn't there is left out: nothing can be granted for it.
    fn paths(
        &self,
        key: &'static str,
        wanted: Option<&Vec<String>>,
        base: Option<&Vec<String>>,
    ) -> Result<Vec<Place>, ConfinementError> {
        let base = base.filter(|base| Some(*base) != wanted);
        let bounds = base.map(|base| base.iter().filter_map(|given| self.real(given)).collect::<Vec<_>>());
        let mut found = Vec::new();
        for given in wanted.into_iter().flatten() {
            let Some(real) = self.real(given) else { continue };
            let shown = || (given.clone(), real.display().to_string());
            if !given.starts_with('/') && !real.starts_with(self.root) {
                let (given, resolved) = shown();
                let root = self.root.display().to_string();
                return Err(ConfinementError::OutsideRoot { key, given, resolved, root });
            }
            if bounds.as_ref().is_some_and(|bounds| !bounds.iter().any(|bound| real.starts_with(bound))) {
                let (given, resolved) = shown();
                return Err(ConfinementError::Wider { key, given, resolved });
            }
            found.push(real);
        }
        Ok(texts(found)?.into_iter().map(Place::of).collect())
    }

    fn real(&self, given: &str) -> Option<PathBuf> {
        match self.held.iter().find(|(known, _)| known == given) {
            Some((_, real)) => Some(real.clone()),
            None => std::fs::canonicalize(self.root.join(given)).ok(),
        }
    }
}

fn texts(paths: Vec<PathBuf>) -> Result<Vec<String>, ConfinementError> {
    paths
        .into_iter()
        .map(|path| path.into_os_string().into_string())
        .map(|text| text.map_err(|path| ConfinementError::NotText { path: path.into() }))
        .collect()
}

/// Where the policy's absolute paths lead as it is set.
pub fn hold(confinement: &Confinement) -> Vec<(String, PathBuf)> {
    let lists = [&confinement.read, &confinement.write];
    let given = lists.into_iter().flatten().flatten().filter(|path| path.starts_with('/'));
    given.filter_map(|path| Some((path.clone(), std::fs::canonicalize(path).ok()?))).collect()
}

/// What a policy asks for and can't have as it is set: sentences for the host's author.
pub fn warnings(confinement: &Confinement) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Err(error) = Kernel::probe().assess(confinement) {
        warnings.push(format!("Every start will be refused: {error} {}", error.recovery()));
    }
    for (key, list) in [("read", &confinement.read), ("write", &confinement.write)] {
        for path in list.iter().flatten().filter(|path| path.starts_with('/') && !Path::new(path).exists()) {
            warnings.push(format!(
                "confinement.{key} has {path}, which doesn't exist: commands get nothing there until it does."
            ));
        }
    }
    warnings
}
