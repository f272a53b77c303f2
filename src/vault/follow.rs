//! A stream read as it grows, from a byte on, one bounded piece for each time it is asked.
//!
//! Nothing waits here, and nothing says whether the stream is over: whoever follows knows where to ask.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use super::error::VaultError;
use super::id::{Stream, TaskId};
use super::store::{Vault, read_error};
use crate::limits;

/// A place in a stream.
#[derive(Debug)]
pub struct Follower {
    task: TaskId,
    folder: OwnedFd,
    stream: File,
    position: u64,
}

impl Follower {
    /// At the byte `from`, which the stream need not have reached yet.
    pub fn open(vault: &Vault, task: &TaskId, stream: Stream, from: u64) -> Result<Self, VaultError> {
        let folder = vault.folder(task)?;
        Ok(Self { task: *task, folder, stream: vault.stream(task, stream)?, position: from })
    }

    /// The task.
    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// Its folder, where changes show.
    pub fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Whether there is nothing more to read now.
    pub fn is_at_end(&self) -> bool {
        self.stream.metadata().is_ok_and(|meta| meta.len() <= self.position)
    }

    /// What comes next, at most [`limits::FOLLOW_CHUNK_BYTES`]; `None` when that isn't written yet.
    pub fn read(&mut self) -> Result<Option<Vec<u8>>, VaultError> {
        let unreadable = |source| read_error(self.task.as_str(), source);
        let left = self.stream.metadata().map_err(unreadable)?.len().saturating_sub(self.position);
        let size = usize::try_from(left)
            .map_or(limits::FOLLOW_CHUNK_BYTES, |left| left.min(limits::FOLLOW_CHUNK_BYTES));
        let mut bytes = vec![0; size];
        let read = self.stream.read_at(&mut bytes, self.position).map_err(unreadable)?;
        bytes.truncate(read);
        self.position += read as u64;
        Ok((read > 0).then_some(bytes))
    }
}
