//! Commands whose keeper was killed: the warden, to whom their processes fall, ends them and writes their records.

use std::collections::HashSet;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::containment::Delegation;
use super::peers::tell;
use super::protocol::{Limits, Report, encode};
use super::settle::{Ended, outcome};
use super::tree::Tree;
use super::warden::Keeper;
use crate::limits;
use crate::os::process::Pid;
use crate::os::signal::SignalNumber;
use crate::vault::layout;
use crate::vault::record::Cause;

/// Those that wait for their orphans to be gone. Whose orphan is whose can't be told, so they are done together.
#[derive(Debug, Default)]
pub struct Lost {
    keepers: Vec<Keeper>,
    next: Option<Instant>,
    pause: Duration,
    give_up: Option<Instant>,
}

impl Lost {
    /// Whether any record is still to be written.
    pub fn any(&self) -> bool {
        !self.keepers.is_empty()
    }

    /// When the next round is due.
    pub fn next_round(&self) -> Option<Instant> {
        self.next
    }

    /// A keeper is gone without a record.
    pub fn add(&mut self, keeper: Keeper) {
        self.keepers.push(keeper);
        self.give_up = Some(Instant::now() + Duration::from_millis(limits::UNKILLABLE_AFTER_MS));
        self.hurry();
    }

    /// Something was reaped: its children have become direct.
    pub fn hurry(&mut self) {
        if self.any() {
            self.next = Some(Instant::now());
            self.pause = Duration::from_millis(1);
        }
    }

    /// Kills all that is not below a live keeper, and writes the records once nothing is left or can be done.
    pub fn round(&mut self, tree: &Tree, live: &HashSet<Pid>, delegation: Option<&Delegation>) {
        let now = Instant::now();
        if !self.any() || self.next.is_some_and(|next| next > now) {
            return;
        }
        let left = tree.members(live);
        if left.is_empty() || self.give_up.is_some_and(|give_up| give_up <= now) {
            let unkillable = tree.unkillable(live);
            for keeper in self.keepers.drain(..) {
                record(keeper, unkillable.clone(), delegation);
            }
            (self.next, self.give_up) = (None, None);
            return;
        }
        tree.signal(SignalNumber::KILL, live);
        self.next = Some(now + self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(50));
    }
}

/// Writes the record in the keeper's place, and tells its host.
fn record(
    keeper: Keeper,
    unkillable: Vec<crate::vault::record::Unkillable>,
    delegation: Option<&Delegation>,
) {
    let kept = [layout::STDOUT, layout::STDERR].map(|name| layout::size_of(&keeper.folder, name));
    let ended = Ended {
        kept,
        unkillable,
        duration: keeper.since.elapsed(),
        in_cgroup: delegation.is_some(),
        ..Ended::nothing_ran(Cause::KeeperLost, Limits::default())
    };
    let mut outcome = outcome(ended);
    // This process has reaped other trees too: what it has used says nothing of this one.
    outcome.usage = crate::vault::record::Usage::default();
    let stored = layout::store_outcome(&keeper.folder, &keeper.pending, &outcome, keeper.sync).is_ok();
    let _ = nix::unistd::unlinkat(&keeper.folder, layout::CONTROL, nix::unistd::UnlinkatFlags::NoRemoveDir);
    if let Some(delegation) = delegation {
        delegation.remove_leaf(&layout::task_of(&keeper.folder));
    }
    if let Ok(bytes) = encode(&Report::Settled { outcome: Box::new(outcome), stored }) {
        tell(&UnixStream::from(keeper.socket), &bytes);
    }
}
