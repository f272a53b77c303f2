//! The composition root: the only place that knows the whole order, from what was asked to what is over.
//!
//! It decides nothing itself. The policy, the sandbox and the program table say whether and what; the supervisor
//! hands over; the vault remembers.

mod bank;
mod course;
pub mod doctor;
mod elsewhere;
mod ended;
pub mod error;
mod follow;
pub mod git;
mod list;
mod options;
mod pages;
pub mod questions;
mod reads;
mod registry;
mod run;
mod sessions;
mod start;
pub mod status;
mod trail;
mod trusted;
mod upkeep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::watch;

pub use self::ended::Ended;
pub use self::list::CommandList;
pub use self::options::{HostOptions, Retention};
pub use self::pages::{ArtifactPage, OutputPage};
pub use self::reads::{read_signal, read_wait};
pub use self::registry::Counts;
pub use self::run::{Reply, Started};
pub use self::start::{ActivePolicy, check_platform};
pub use self::upkeep::Cleaned;

use self::error::HostError;
use self::follow::Followers;
use self::questions::Questions;
use self::registry::Registry;
use self::upkeep::Upkeep;
use crate::confinement;
use crate::error::Error;
use crate::input::Value;
use crate::supervisor::gate::Gate;
use crate::supervisor::launch::Supervisor;
use crate::vault::audit::Audit;
use crate::vault::store::Vault;
use crate::vault::watch::Watcher;

/// Who is told what happens without having asked.
pub trait Listener: Send + Sync + 'static {
    /// A command of this host is over.
    fn settled(&self, ended: Ended);
}

/// Whether the one who asked has given up.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Receiver<bool>);

/// The other end of a [`Cancel`].
pub type CancelSender = watch::Sender<bool>;

impl Cancel {
    /// Both ends.
    pub fn new() -> (CancelSender, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// One that never comes.
    pub fn never() -> Self {
        Self::new().1
    }

    /// Whether it has come.
    pub fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for it; for ever if nobody can give up any more.
    pub(crate) async fn set(&mut self) {
        if self.0.wait_for(|set| *set).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// An open vault with its audit trail.
struct Storage {
    vault: Vault,
    audit: Audit,
}

/// A host: one policy, one vault, its own commands.
pub struct CommandHost {
    options: HostOptions,
    default_vault: Result<std::path::PathBuf, String>,
    storage: OnceLock<Storage>,
    supervisor: Arc<Supervisor>,
    policy: Mutex<Option<Arc<ActivePolicy>>>,
    registry: Registry,
    gate: Arc<Gate>,
    questions: Questions,
    /// Held for reading by each start that is on its way.
    starting: Arc<tokio::sync::RwLock<()>>,
    /// The repository that git tools ask.
    git: Mutex<Option<crate::git::Toolbox>>,
    /// True once the host is disposed of or abandoned: runs that nobody registered end by it.
    ended: watch::Sender<bool>,
    followers: Followers,
    watcher: Watcher,
    upkeep: Upkeep,
    disposed: AtomicBool,
    listener: Box<dyn Listener>,
}

impl CommandHost {
    /// Makes a host. Nothing is opened or started yet: what the machine lacks is told by the first call that needs
    /// it. `env` is the process's environment, for the vault's default place.
    pub fn new(
        options: &Value,
        env: &Value,
        supervisor: Arc<Supervisor>,
        listener: Box<dyn Listener>,
    ) -> Result<Arc<Self>, Error> {
        let options = HostOptions::read(options)?;
        let default_vault = Vault::default_path(env.text_at("XDG_STATE_HOME"), env.text_at("HOME"));
        Ok(Arc::new(Self {
            options,
            default_vault: default_vault.map_err(|error| error.to_string()),
            storage: OnceLock::new(),
            supervisor,
            policy: Mutex::new(None),
            registry: Registry::default(),
            gate: Arc::new(Gate::default()),
            questions: Questions::default(),
            starting: Arc::default(),
            git: Mutex::default(),
            ended: watch::Sender::new(false),
            followers: Followers::default(),
            watcher: Watcher::default(),
            upkeep: Upkeep::default(),
            disposed: AtomicBool::new(false),
            listener,
        }))
    }

    /// Puts a policy in force for later starts, and says what about it deserves a second look. A refused one
    /// changes nothing.
    pub fn set_policy(&self, policy: &Value, env: &Value) -> Result<Vec<String>, Error> {
        if self.disposed.load(Ordering::Acquire) {
            return Err(HostError::Disposed.into());
        }
        let active = ActivePolicy::set(policy, env)?;
        let mut warnings = active.rules.warnings();
        warnings.extend(self.vault_warning(&active));
        warnings.extend(active.rules.confinement().map(confinement::warnings).unwrap_or_default());
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(active));
        Ok(warnings)
    }

    /// A vault that commands can read grows by what they read of it.
    fn vault_warning(&self, active: &ActivePolicy) -> Option<String> {
        let vault = self.vault_dir().ok()?;
        let root = std::fs::canonicalize(active.rules.cwd_root()).ok()?;
        // The part of the vault's path that exists decides; the rest is made below it.
        let existing = vault.ancestors().find_map(|path| std::fs::canonicalize(path).ok())?;
        if let Some(writable) = active.writes(&existing) {
            return Some(format!(
                "The vault {} lies below {}, which confinement.write gives: commands can change records and output, \
                 their own and others'. Set vaultDir to a directory outside of it.",
                vault.display(),
                writable.display()
            ));
        }
        existing.starts_with(&root).then(|| {
            format!(
                "The vault {} lies inside cwdRoot {}: a command that reads its own output grows it up to \
                 maxOutputBytes. Set vaultDir to a directory outside of cwdRoot.",
                vault.display(),
                root.display()
            )
        })
    }

    /// The policy in force. A start takes it when it is called, whatever is set while it is on its way.
    pub fn policy(&self) -> Option<Arc<ActivePolicy>> {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many commands are not over, and how many are and were not looked at.
    pub fn counts(&self, session: Option<&str>) -> Counts {
        self.registry.counts(session)
    }

    fn vault_dir(&self) -> Result<std::path::PathBuf, crate::vault::error::VaultError> {
        match (&self.options.vault_dir, &self.default_vault) {
            (Some(path), _) | (None, Ok(path)) => Ok(path.clone()),
            (None, Err(_)) => Err(crate::vault::error::VaultError::NoPlace),
        }
    }

    /// The vault, opened by the first call that needs it. One that can't be opened is tried again by the next.
    fn storage(&self) -> Result<&Storage, Error> {
        if let Some(storage) = self.storage.get() {
            return Ok(storage);
        }
        let vault = Vault::open(&self.vault_dir()?)?;
        let audit = Audit::new(vault.path());
        Ok(self.storage.get_or_init(|| Storage { vault, audit }))
    }

    /// Makes ahead what the next start needs of the vault.
    fn prepare_next(&self) {
        if let Some(storage) = self.storage.get().filter(|_| !self.disposed.load(Ordering::Acquire)) {
            storage.vault.prepare_next();
        }
    }

    /// Takes back what was made ahead.
    fn discard_next(&self) {
        if let Some(storage) = self.storage.get() {
            storage.vault.discard_next();
        }
    }

    fn vault(&self) -> Result<&Vault, Error> {
        Ok(&self.storage()?.vault)
    }
}
