//! `argvault doctor`: what this machine has of what commands are started, held and confined with, and what follows.

use serde::Serialize;

use super::start::check_platform;
use crate::confinement::{Feature, Kernel};
use crate::input::Value;
use crate::vault::store::Vault;
use crate::warden::containment::Delegation;

/// One thing that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// It is there.
    pub ok: bool,
    /// Nothing starts without it.
    pub needed: bool,
    /// What was found.
    pub found: String,
    /// What follows from that.
    pub then: String,
}

impl Rung {
    fn new(name: &str, ok: bool, found: impl Into<String>, [if_ok, if_not]: [&str; 2]) -> Self {
        let then = if ok { if_ok } else { if_not }.to_owned();
        Self { name: name.into(), ok, needed: false, found: found.into(), then }
    }

    fn needed(self) -> Self {
        Self { needed: true, ..self }
    }
}

/// The whole ladder. `env` is `process.env`, for the vault's place.
pub fn doctor(env: &Value) -> Vec<Rung> {
    let kernel = Kernel::probe();
    let platform = check_platform();
    let starts = ["commands can start", "every start is ERR_PLATFORM"];
    let found = platform.as_ref().map_or_else(ToString::to_string, |()| {
        format!("Linux {}: openat2, pidfd, close_range, /proc", kernel.release)
    });
    let mut ladder =
        vec![Rung::new("platform", platform.is_ok(), found, starts).needed(), vault(env), cgroup()];
    let abi = kernel.landlock_abi;
    ladder.push(Rung::new(
        "landlock",
        abi >= 2,
        if abi == 0 { "not there".into() } else { format!("ABI {abi}") },
        ["files, ports and signals can be confined as below", "confinement \"required\" is refused"],
    ));
    ladder.push(Rung::new(
        "seccomp",
        kernel.seccomp,
        if kernel.seccomp { "filters can be set" } else { "filters can't be set" },
        ["system calls and sockets can be refused", "confinement \"required\" is refused"],
    ));
    ladder.extend(Feature::ALL.iter().map(|feature| {
        let name = format!("confinement.{}", feature.key);
        let needs = match feature.abi {
            0 => "needs seccomp".to_owned(),
            abi => format!("needs Landlock ABI {abi} (Linux {}) and seccomp", feature.since),
        };
        Rung::new(
            &name,
            feature.is_in(kernel),
            needs,
            [feature.gives, "\"required\" is refused, \"best-effort\" goes without"],
        )
    }));
    ladder
}

fn vault(env: &Value) -> Rung {
    let path = match env.text_at("ARGVAULT_VAULT") {
        Some(path) => Ok(path.into()),
        None => Vault::default_path(env.text_at("XDG_STATE_HOME"), env.text_at("HOME")),
    };
    let (ok, found) = match path {
        Err(error) => (false, error.to_string()),
        // Looking doesn't make it.
        Ok(path) if !path.exists() => (true, format!("{}, made at the first start", path.display())),
        Ok(path) => match Vault::open(&path) {
            Ok(vault) => (true, vault.path().display().to_string()),
            Err(error) => (false, error.to_string()),
        },
    };
    let then = [
        "output and records are kept there",
        "starts are ERR_VAULT_UNAVAILABLE unless vaultDir names another",
    ];
    Rung::new("vault", ok, found, then).needed()
}

fn cgroup() -> Rung {
    let made = Delegation::make();
    let ok = made.is_some();
    let bounds_memory = made.as_ref().is_some_and(Delegation::bounds_memory);
    if let Some(delegation) = made {
        delegation.remove();
    }
    let found = match (ok, bounds_memory) {
        (true, true) => "delegated to this process, with memory",
        (true, false) => "delegated to this process, without memory",
        (false, _) => "not writable for this process",
    };
    let leaf = if bounds_memory {
        "each tree has a leaf of its own: containment \"cgroup\", limits.memoryBytes"
    } else {
        "each tree has a leaf of its own: containment \"cgroup\"; limits.memoryBytes is not available"
    };
    Rung::new(
        "cgroup v2",
        ok,
        found,
        [leaf, "containment \"subreaper\"; limits.memoryBytes is not available"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_names_everything_once_and_what_follows() {
        let ladder = doctor(&Value::Record(vec![("HOME".into(), Value::Text("/no/such/home".into()))]));
        assert!(ladder.iter().all(|rung| !rung.found.is_empty() && !rung.then.is_empty()));
        let vault = ladder.iter().find(|rung| rung.name == "vault").unwrap();
        assert!(vault.ok && vault.found.starts_with("/no/such/home"), "{vault:?}");
        for name in
            ["platform", "cgroup v2", "landlock", "seccomp", "confinement.execute", "confinement.signals"]
        {
            assert_eq!(ladder.iter().filter(|rung| rung.name == name).count(), 1, "{name}");
        }
    }
}
