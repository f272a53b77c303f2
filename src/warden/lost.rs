//! Commands whose keeper was killed: the warden, to whom their processes fall, ends them and writes their records. One
//! that leaves a temporary directory gets a process for that: the warden has others to start meanwhile.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::OwnedFd;
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
use crate::vault::record::{Cause, Outcome, Unkillable};

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

    /// Kills all that is not below a live keeper. Gives those whose records can be written, because nothing is left or
    /// can be done, and what is left.
    pub fn round(&mut self, tree: &Tree, live: &HashSet<Pid>) -> Option<(Vec<Keeper>, Vec<Unkillable>)> {
        let now = Instant::now();
        if !self.any() || self.next.is_some_and(|next| next > now) {
            return None;
        }
        let left = tree.members(live);
        if left.is_empty() || self.give_up.is_some_and(|give_up| give_up <= now) {
            (self.next, self.give_up) = (None, None);
            return Some((std::mem::take(&mut self.keepers), tree.unkillable(live)));
        }
        tree.signal(SignalNumber::KILL, live);
        self.next = Some(now + self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(50));
        None
    }
}

/// Does what a keeper does at the end: for the one that was lost, in a process of its own.
pub fn finish(keeper: Keeper, delegation: Option<&Delegation>) {
    let folder = keeper.folder.try_clone();
    let swept = layout::remove_tmp(&keeper.folder, limits::TMP_SWEEP_MS);
    record(keeper, Vec::new(), delegation);
    if let (false, Ok(folder)) = (swept, folder) {
        layout::remove_tmp(&folder, limits::TMP_SWEEP_AFTERWARDS_MS);
    }
}

/// Writes the record in the keeper's place, and tells its host.
pub fn record(keeper: Keeper, unkillable: Vec<Unkillable>, delegation: Option<&Delegation>) {
    let (outcome, stored) = conclude(&keeper.folder, &keeper.pending, keeper.sync, || {
        let kept = [layout::STDOUT, layout::STDERR].map(|name| layout::size_of(&keeper.folder, name));
        let mut outcome = outcome(Ended {
            kept,
            unkillable,
            duration: keeper.since.elapsed(),
            in_cgroup: delegation.is_some(),
            ..Ended::nothing_ran(Cause::KeeperLost, Limits::default())
        });
        // This process has reaped other trees too: what it has used says nothing of this one.
        outcome.usage = crate::vault::record::Usage::default();
        outcome
    });
    let _ = nix::unistd::unlinkat(&keeper.folder, layout::CONTROL, nix::unistd::UnlinkatFlags::NoRemoveDir);
    if let Some(delegation) = delegation {
        delegation.remove_leaf(&layout::task_of(&keeper.folder));
    }
    if let Ok(bytes) = encode(&Report::Settled { outcome: Box::new(outcome), stored }) {
        tell(&UnixStream::from(keeper.socket), &bytes);
    }
}

/// The outcome and whether it is stored: the keeper's own if it was killed after it had written it, else `lost`.
fn conclude(folder: &OwnedFd, pending: &File, sync: bool, lost: impl FnOnce() -> Outcome) -> (Outcome, bool) {
    // `pending` is that very file by then, under its new name: writing to it would write over the outcome.
    if let Some(outcome) = layout::stored_outcome(folder) {
        return (outcome, true);
    }
    let outcome = lost();
    let stored = layout::store_outcome(folder, pending, &outcome, sync).is_ok();
    (outcome, stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_that_the_keeper_had_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = OwnedFd::from(File::open(dir.path()).unwrap());
        let pending = File::create_new(dir.path().join(layout::PENDING)).unwrap();
        let lost = || Outcome::bare(Cause::KeeperLost, "a text that is longer than the other");
        let kept = Outcome::bare(Cause::Timeout, "x");
        layout::store_outcome(&folder, &pending, &kept, false).unwrap();
        assert_eq!(conclude(&folder, &pending, false, lost), (kept.clone(), true));
        assert_eq!(layout::stored_outcome(&folder), Some(kept));
    }

    #[test]
    fn an_outcome_that_is_not_there_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = OwnedFd::from(File::open(dir.path()).unwrap());
        let pending = File::create_new(dir.path().join(layout::PENDING)).unwrap();
        let lost = Outcome::bare(Cause::KeeperLost, "x");
        assert_eq!(conclude(&folder, &pending, false, || lost.clone()), (lost.clone(), true));
        assert_eq!(layout::stored_outcome(&folder), Some(lost));
    }
}
