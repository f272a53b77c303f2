//! What this kernel can enforce, looked for once, and what each part of a confinement needs of it.

use std::sync::OnceLock;

use super::confined::{Confined, Enforcement};
use super::error::ConfinementError;
use crate::os::landlock;
use crate::policy::{Confinement, Level, Network};

/// What the kernel has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Landlock's ABI; 0 without Landlock.
    pub landlock_abi: u32,
    /// Filters can be set, and this build can write them for this processor.
    pub seccomp: bool,
    /// The kernel's version, as `uname -r` prints it.
    pub release: String,
}

/// One part of a confinement, in the order of its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// The key of `confinement`.
    pub key: &'static str,
    /// The Landlock ABI that it needs; 0 for none.
    pub abi: u32,
    /// The kernel with that ABI.
    pub since: &'static str,
    /// What it gives.
    pub gives: &'static str,
}

/// Filters alone, or a Landlock that lets renames across directories be (ABI 2): every confined tree is in a domain of
/// its own, so that it can't reach into other processes through `/proc`.
pub(super) const SYSCALLS: Feature = Feature {
    key: "syscalls",
    abi: 2,
    since: "5.19",
    gives: "no ptrace, mounts, namespaces, io_uring, bpf, keyrings, modules; no look into other processes",
};
pub(super) const EXECUTE: Feature =
    Feature { key: "execute", abi: 2, since: "5.19", gives: "only listed files can be executed" };
pub(super) const READ: Feature =
    Feature { key: "read", abi: 2, since: "5.19", gives: "only listed paths can be read" };
/// Truncation can be refused since ABI 3.
pub(super) const WRITE: Feature =
    Feature { key: "write", abi: 3, since: "6.2", gives: "only listed paths can be written" };
pub(super) const NO_NETWORK: Feature =
    Feature { key: "network", abi: 0, since: "3.17", gives: "network \"none\": no sockets" };
pub(super) const CONNECT_TCP: Feature =
    Feature { key: "network", abi: 4, since: "6.7", gives: "network { connectTcp }: only listed ports" };
pub(super) const SIGNALS: Feature =
    Feature { key: "signals", abi: 6, since: "6.12", gives: "signals reach the command's own tree only" };

impl Feature {
    /// All of them, for people.
    pub const ALL: &'static [Self] = &[SYSCALLS, EXECUTE, READ, WRITE, NO_NETWORK, CONNECT_TCP, SIGNALS];

    /// Whether `kernel` has what it needs. Each needs the filters too: they close what Landlock leaves open.
    pub fn is_in(&self, kernel: &Kernel) -> bool {
        kernel.seccomp && kernel.landlock_abi >= self.abi
    }

    fn needs(&self) -> String {
        match self.abi {
            0 => format!("seccomp filters (Linux {})", self.since),
            abi => format!("Landlock ABI {abi} (Linux {}) and seccomp filters", self.since),
        }
    }
}

impl Kernel {
    /// Of the machine, looked at once.
    pub fn probe() -> &'static Self {
        static FOUND: OnceLock<Kernel> = OnceLock::new();
        FOUND.get_or_init(|| Self {
            landlock_abi: landlock::abi(),
            seccomp: landlock::has_seccomp() && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
            release: nix::sys::utsname::uname()
                .map_or_else(|_| "unknown".into(), |name| name.release().to_string_lossy().into_owned()),
        })
    }

    fn has(&self) -> String {
        let landlock = match self.landlock_abi {
            0 => "no Landlock".to_owned(),
            abi => format!("Landlock ABI {abi}"),
        };
        format!("{landlock} and {}seccomp filters", if self.seccomp { "" } else { "no " })
    }

    /// What of `confinement` this kernel enforces; an error where it has to and can't.
    pub fn assess(&self, confinement: &Confinement) -> Result<Confined, ConfinementError> {
        let stands = |feature: Feature, requested: bool| {
            if !requested {
                Ok(Enforcement::NotRequested)
            } else if feature.is_in(self) {
                Ok(Enforcement::Enforced)
            } else if confinement.level == Level::Required {
                Err(ConfinementError::Unavailable {
                    feature: feature.key,
                    needs: feature.needs(),
                    has: self.has(),
                    release: self.release.clone(),
                })
            } else {
                Ok(Enforcement::Unavailable)
            }
        };
        let (network, restricted) = match confinement.network {
            Network::Host => (NO_NETWORK, false),
            Network::None => (NO_NETWORK, true),
            Network::ConnectTcp(_) => (CONNECT_TCP, true),
        };
        Ok(Confined {
            level: confinement.level.name().into(),
            execute: stands(EXECUTE, confinement.execute.is_some())?,
            read: stands(READ, confinement.read.is_some())?,
            write: stands(WRITE, confinement.write.is_some())?,
            network: stands(network, restricted)?,
            signals: stands(SIGNALS, confinement.own_signals)?,
            syscalls: stands(SYSCALLS, true)?,
            executables: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(landlock_abi: u32, seccomp: bool) -> Kernel {
        Kernel { landlock_abi, seccomp, release: "5.15.0".into() }
    }

    fn everything(level: Level) -> Confinement {
        Confinement {
            level,
            execute: Some(crate::policy::Execute::Allowed),
            read: Some(Vec::new()),
            write: Some(Vec::new()),
            network: Network::ConnectTcp(vec![443]),
            own_signals: true,
            keep_tmp: false,
        }
    }

    #[test]
    fn what_is_required_and_missing_is_named_with_the_kernel() {
        for (abi, seccomp, feature) in [
            (1, true, "execute"),
            (2, true, "write"),
            (3, true, "network"),
            (5, true, "signals"),
            (7, false, "execute"),
        ] {
            let error = kernel(abi, seccomp).assess(&everything(Level::Required)).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("confinement.{feature} is required")), "{abi}: {text}");
            assert!(text.contains("5.15.0"), "{text}");
        }
        assert!(kernel(6, true).assess(&everything(Level::Required)).is_ok());
    }

    #[test]
    fn best_effort_says_what_it_could_not() {
        use Enforcement::{Enforced, NotRequested, Unavailable};
        let confined = kernel(3, true).assess(&everything(Level::BestEffort)).unwrap();
        assert_eq!((confined.execute, confined.write), (Enforced, Enforced));
        assert_eq!((confined.network, confined.signals), (Unavailable, Unavailable));
        let less =
            Confinement { own_signals: false, network: Network::None, ..everything(Level::BestEffort) };
        let confined = kernel(0, true).assess(&less).unwrap();
        assert_eq!((confined.read, confined.syscalls), (Unavailable, Unavailable));
        assert_eq!((confined.network, confined.signals), (Enforced, NotRequested));
    }
}
