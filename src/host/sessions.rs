//! What a session sees of the host, for those who act on behalf of one.

use super::registry::Counts;
use super::{CommandHost, reads};
use crate::error::Error;
use crate::vault::error::VaultError;
use crate::vault::id::ArtifactId;

impl CommandHost {
    /// [`CommandHost::counts`] of exactly this session; none is a session of its own.
    pub fn session_counts(&self, session: Option<&str>) -> Counts {
        self.registry.counts_of(|own| own == session)
    }

    /// Refuses, as though it didn't exist, a command of another session where sessions are isolated.
    pub fn check_visible(&self, task: &str, session: Option<&str>) -> Result<(), Error> {
        if !self.options.isolate_sessions {
            return Ok(());
        }
        let id = reads::known(task)?;
        if self.command_of(&id)?.session_id.as_deref() == session {
            return Ok(());
        }
        Err(VaultError::UnknownTask { id: id.to_string() }.into())
    }

    /// The same for an artifact: a command's output, or something banked by itself.
    pub fn check_artifact_visible(&self, artifact: &str, session: Option<&str>) -> Result<(), Error> {
        match ArtifactId::parse(artifact) {
            Some(ArtifactId::Output(task, _)) => self.check_visible(task.as_str(), session),
            Some(ArtifactId::Banked(id)) if self.options.isolate_sessions => {
                let about = self.vault()?.about(&id)?;
                match about {
                    Some(about) if about.session_id.as_deref() != session => {
                        Err(VaultError::UnknownTask { id: id.to_string() }.into())
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Forgets a question that nobody will answer. Nothing ran.
    pub fn withdraw(&self, ticket: u64) {
        drop(self.questions.take(ticket));
    }
}
