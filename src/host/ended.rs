//! The end of a command, for those who are told of it without having asked.

use std::sync::Arc;

use super::CommandHost;
use super::status::Status;
use crate::vault::id::TaskId;
use crate::vault::record::{CommandFile, Outcome};

/// A command that is over. Mostly nobody listens, so that putting a status together from its files is left to whoever
/// does: [`CommandHost::status_at_end`].
#[derive(Debug)]
pub struct Ended {
    /// Which one.
    pub task: TaskId,
    /// The status, where the host has an `onSettled`.
    pub status: Option<Status>,
    pub(super) command: Arc<CommandFile>,
    pub(super) outcome: Arc<Outcome>,
}

impl CommandHost {
    /// How it ended. That somebody is told is no look at the command: it still counts as `finished`.
    pub fn status_at_end(&self, ended: &Ended) -> Status {
        self.settled_status(&ended.task, &ended.command, &ended.outcome)
    }
}
