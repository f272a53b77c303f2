//! Commands of other processes on the same vault: waiting for them and ending them, through their keepers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::CommandHost;
use super::error::HostError;
use crate::error::Error;
use crate::limits;
use crate::os::signal::SignalNumber;
use crate::supervisor::error::SupervisorError;
use crate::supervisor::live::{Settlement, Standing};
use crate::supervisor::remote;
use crate::vault::error::VaultError;
use crate::vault::id::TaskId;
use crate::vault::record::{Cause, Outcome};
use crate::vault::store::Found;
use crate::vault::watch::{Change, Watch};

impl CommandHost {
    /// Whether anybody has it.
    pub(super) fn is_live_elsewhere(&self, task: &TaskId) -> bool {
        self.vault().is_ok_and(|vault| matches!(vault.find(task), Ok(Found::Live)))
    }

    /// Waits until a command is over, whoever has it. `Some`: an outcome that the vault may not have.
    pub(super) async fn over(&self, task: &TaskId) -> Result<Option<Arc<Outcome>>, Error> {
        if let Some(mut live) = self.registry.get(task)
            && let Some(Settlement { outcome, .. }) = live.settled().await
        {
            return Ok(Some(outcome));
        }
        if !self.is_live_elsewhere(task) {
            return Ok(None);
        }
        // The keeper's word costs nothing until it comes; one that waits for its turn has no keeper yet.
        if let Ok(keeper) = remote::connect(&self.vault()?.folder(task)?).await {
            let (reports, _orders) = keeper.split();
            if let Some(settlement) = reports.follow(&watch::Sender::new(Standing::Running)).await {
                return Ok(Some(settlement.outcome));
            }
        }
        loop {
            let mut watch = self.watch(task)?;
            if !self.is_live_elsewhere(task) {
                return Ok(None);
            }
            if watch.changed().await == Change::Released {
                self.let_go(task).await;
            }
        }
    }

    /// Has another process's command ended and waits for its end. `None`: the vault says how it ended.
    pub(super) async fn kill_elsewhere(
        &self,
        task: &TaskId,
        signal: SignalNumber,
    ) -> Result<Option<Arc<Outcome>>, Error> {
        let vault = self.vault()?;
        let mut patience = Instant::now() + Duration::from_millis(limits::KEEPER_LISTENS_MS);
        let mut ordered = false;
        loop {
            let mut watch = self.watch(task)?;
            if !self.is_live_elsewhere(task) {
                return Ok(None);
            }
            let command = vault.command(task)?;
            if command.queued {
                return Err(
                    HostError::QueuedElsewhere { task: task.to_string(), host: command.host_pid }.into()
                );
            }
            if let Ok(keeper) = remote::connect(&vault.folder(task)?).await {
                let (reports, orders) = keeper.split();
                orders.end(signal, Cause::Kill);
                if let Some(settlement) = reports.follow(&watch::Sender::new(Standing::Running)).await {
                    return Ok(Some(settlement.outcome));
                }
                // The keeper was killed, and the warden ends its tree; or it has as many visitors as it takes.
                if !ordered {
                    ordered = true;
                    patience = Instant::now()
                        + Duration::from_millis(limits::UNKILLABLE_AFTER_MS + limits::KEEPER_OVERDUE_MS);
                }
            }
            let waited = timeout_at(patience, watch.changed()).await;
            if waited.is_err() {
                let reason = format!(
                    "the keeper of {task}, a command of process {}, takes no orders",
                    command.host_pid
                );
                return Err(SupervisorError::Fault { reason }.into());
            }
        }
    }

    /// Waits, for a moment, until the lock of a task is let go: that is told just before it happens.
    pub(super) async fn let_go(&self, task: &TaskId) {
        const LONGEST_PAUSE: Duration = Duration::from_millis(256);
        let mut pause = Duration::from_millis(1);
        while pause <= LONGEST_PAUSE && self.is_live_elsewhere(task) {
            sleep(pause).await;
            pause *= 2;
        }
    }

    fn watch(&self, task: &TaskId) -> Result<Watch, Error> {
        let folder = self.vault()?.folder(task)?;
        let watch = self.watcher.events().and_then(|events| events.watch(&folder));
        Ok(watch.map_err(|source| VaultError::Watch { source })?)
    }
}
