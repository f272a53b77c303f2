//! The vault's size: what may be removed, and when no more is let in.
//!
//! The size is measured at the first start that has to know it and then kept up: each settled command of this host
//! is added, and the whole is measured again now and then while commands are started. So a start may pass while
//! running commands, or those of other processes, have just gone over the bound; a refusal rests on a measurement
//! of the last second (of the last twenty measuring times, in a large vault) and on what has settled here since.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::CommandHost;
use super::options::{Retention, read_retention};
use super::run::off_the_loop;
use crate::error::Error;
use crate::input::Value;
use crate::limits;
use crate::vault::cleanup::Removed;
use crate::vault::error::VaultError;

/// What a cleanup did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleaned {
    /// Commands and banked artifacts that were removed.
    removed: u64,
    /// Bytes of disk blocks that are free again.
    freed_bytes: u64,
}

/// What a host knows of its vault's size.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    bytes: AtomicU64,
    measured: tokio::sync::Mutex<Option<Measurement>>,
    /// Settled since retention was last applied.
    settled: AtomicU64,
    retained_once: AtomicBool,
    retaining: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
struct Measurement {
    at: Instant,
    took: Duration,
}

impl Measurement {
    fn is_old(&self) -> bool {
        let least = Duration::from_millis(limits::MEASURE_AFTER_MS);
        self.at.elapsed() >= least.max(self.took * limits::MEASURE_SHARE)
    }
}

impl Upkeep {
    /// What was written takes room, and so do the files about it.
    pub fn grew(&self, bytes: u64) {
        const ABOUT: u64 = 16 * 1024;
        self.bytes.fetch_add(bytes.saturating_add(ABOUT), Ordering::Relaxed);
    }
}

impl CommandHost {
    /// Refuses when the vault has reached `maxVaultBytes`.
    pub(super) async fn check_room(self: &Arc<Self>) -> Result<(), Error> {
        let Some(most) = self.options.max_vault_bytes else { return Ok(()) };
        let held = || self.upkeep.bytes.load(Ordering::Relaxed);
        let mut measured = self.upkeep.measured.lock().await;
        let is_old = measured.is_none_or(|measured| measured.is_old());
        if measured.is_none() || (is_old && held() >= most) {
            *measured = Some(self.measure().await?);
        } else if is_old {
            // Not waited for. Until it is done others don't measure too.
            *measured = Some(Measurement { at: Instant::now(), took: Duration::ZERO });
            let host = Arc::clone(self);
            tokio::spawn(async move {
                if let Ok(done) = host.measure().await {
                    *host.upkeep.measured.lock().await = Some(done);
                }
            });
        }
        drop(measured);
        let bytes = held();
        if bytes < most {
            return Ok(());
        }
        let path = self.vault()?.path().display().to_string();
        Err(VaultError::Full { path, bytes, most }.into())
    }

    async fn measure(self: &Arc<Self>) -> Result<Measurement, Error> {
        let host = Arc::clone(self);
        off_the_loop(move || {
            let begun = Instant::now();
            let bytes = host.vault()?.census()?.bytes;
            host.upkeep.bytes.store(bytes, Ordering::Relaxed);
            Ok(Measurement { at: Instant::now(), took: begun.elapsed() })
        })
        .await
    }

    /// Removes what is over: `{ olderThanMs?, maxBytes? }`.
    pub fn cleanup(&self, options: &Value) -> Result<Cleaned, Error> {
        self.clean(read_retention(options, "options")?)
    }

    fn clean(&self, retention: Retention) -> Result<Cleaned, Error> {
        let Removed { ids, freed_bytes, left_bytes } = self.vault()?.cleanup(retention)?;
        for id in &ids {
            self.registry.seen(id);
        }
        self.upkeep.bytes.store(left_bytes, Ordering::Relaxed);
        Ok(Cleaned { removed: ids.len() as u64, freed_bytes })
    }

    /// One more is over.
    pub(super) fn note_settled(self: &Arc<Self>, bytes: u64) {
        self.upkeep.grew(bytes);
        self.upkeep.settled.fetch_add(1, Ordering::Relaxed);
        self.retain();
    }

    /// Applies the host's retention, at first and after every so many settled commands. Nobody waits for it.
    pub(super) fn retain(self: &Arc<Self>) {
        let Some(retention) = self.options.retention else { return };
        let upkeep = &self.upkeep;
        let due = !upkeep.retained_once.load(Ordering::Relaxed)
            || upkeep.settled.load(Ordering::Relaxed) >= limits::RETENTION_EVERY;
        if !due || upkeep.retaining.swap(true, Ordering::AcqRel) {
            return;
        }
        upkeep.retained_once.store(true, Ordering::Relaxed);
        upkeep.settled.store(0, Ordering::Relaxed);
        let host = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            // What can't be removed now is tried again after the next so many.
            let _ = host.clean(retention);
            host.upkeep.retaining.store(false, Ordering::Release);
        });
    }
}
