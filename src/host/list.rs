//! Listing the vault's commands, of this process and all others, the newest first.

use serde::Serialize;

use super::CommandHost;
use super::reads::{Sight, SightState};
use super::status::{LiveState, Status};
use crate::error::Error;
use crate::input::{Fields, Value};
use crate::limits;
use crate::vault::error::VaultError;
use crate::vault::id::TaskId;
use crate::vault::record::SettledState;

/// A page of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandList {
    commands: Vec<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Which commands are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Not over, in this state or in any.
    Live(Option<LiveState>),
    /// Over, in this state or in any.
    Settled(Option<SettledState>),
    /// Nobody has them, and no outcome was written.
    Abandoned,
}

const STATES: [(&str, Which); 9] = [
    ("queued", Which::Live(Some(LiveState::Queued))),
    ("running", Which::Live(Some(LiveState::Running))),
    ("exited", Which::Settled(Some(SettledState::Exited))),
    ("killed", Which::Settled(Some(SettledState::Killed))),
    ("timeout", Which::Settled(Some(SettledState::Timeout))),
    ("output-limit", Which::Settled(Some(SettledState::OutputLimit))),
    ("live", Which::Live(None)),
    ("settled", Which::Settled(None)),
    ("abandoned", Which::Abandoned),
];

impl Which {
    fn has(self, sight: &Sight) -> bool {
        match (self, &sight.state) {
            (Self::Live(wanted), SightState::Live { state, .. }) => wanted.is_none_or(|w| w == *state),
            (Self::Settled(wanted), SightState::Settled(outcome) | SightState::Abandoned(outcome)) => {
                wanted.is_none_or(|w| w == outcome.cause.state())
            }
            (Self::Abandoned, SightState::Abandoned(_)) => true,
            _ => false,
        }
    }
}

impl CommandHost {
    /// `{ sessionId?, state?, limit?, cursor? }`. Looking at a list is not looking at a command.
    pub fn list(&self, options: &Value) -> Result<CommandList, Error> {
        let mut fields = Fields::of(options, "options")?;
        let session = fields.field("sessionId").text()?;
        let which = fields.field("state").word(&STATES)?;
        let limit = fields.field("limit").positive_integer()?.unwrap_or(limits::DEFAULT_LIST_LENGTH);
        let limit = usize::try_from(limit.min(limits::MAX_LIST_LENGTH)).unwrap_or(1);
        let cursor = fields.field("cursor");
        let after = match cursor.text()? {
            None => None,
            Some(text) => {
                Some(TaskId::parse(text).ok_or_else(|| cursor.wrong("the nextCursor of a list before"))?)
            }
        };
        fields.finish()?;

        let mut commands: Vec<(TaskId, Sight)> = Vec::new();
        for id in self.vault()?.ids()? {
            // New commands come before every cursor: what follows one stays the same.
            if after.is_some_and(|after| id >= after) {
                continue;
            }
            let Some(sight) = self.listed(&id)? else { continue };
            let of_session = session.is_none() || sight.command.session_id.as_deref() == session;
            if !of_session || which.is_some_and(|which| !which.has(&sight)) {
                continue;
            }
            if commands.len() == limit {
                let next_cursor = commands.last().map(|(id, _)| id.to_string());
                return Ok(CommandList { commands: self.statuses(commands), next_cursor });
            }
            commands.push((id, sight));
        }
        Ok(CommandList { commands: self.statuses(commands), next_cursor: None })
    }

    /// `None`: no command, or one that is gone by now or can't be read.
    fn listed(&self, id: &TaskId) -> Result<Option<Sight>, Error> {
        match self.sight(id) {
            Ok(sight) => Ok(Some(sight)),
            Err(Error::Vault(VaultError::UnknownTask { .. } | VaultError::Read { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn statuses(&self, commands: Vec<(TaskId, Sight)>) -> Vec<Status> {
        commands.into_iter().map(|(id, sight)| self.status_of(&id, sight)).collect()
    }
}
