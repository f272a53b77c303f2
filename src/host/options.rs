//! What a host is made with.

use std::path::PathBuf;

use crate::input::{Fields, InputError, Value};
pub use crate::vault::cleanup::Retention;

/// `CommandHostOptions`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOptions {
    /// Where the vault is, absolute; absent: the user's state directory.
    pub vault_dir: Option<PathBuf>,
    /// A session sees its own commands only.
    pub isolate_sessions: bool,
    /// Starts are refused once the vault holds this many bytes.
    pub max_vault_bytes: Option<u64>,
    /// What `cleanup` runs with by itself.
    pub retention: Option<Retention>,
    /// fsync streams and record at settling.
    pub sync: bool,
    /// The host has an `onSettled`, so each end is told with its status.
    pub has_on_settled: bool,
}

/// From `{ olderThanMs?, maxBytes? }`, which the caller knows as `what`.
pub fn read_retention(value: &Value, what: &str) -> Result<Retention, InputError> {
    let mut fields = Fields::of(value, what)?;
    let retention = Retention {
        older_than_ms: fields.field("olderThanMs").unsigned_integer()?,
        max_bytes: fields.field("maxBytes").unsigned_integer()?,
    };
    fields.finish()?;
    Ok(retention)
}

impl HostOptions {
    /// Reads them. A relative `vaultDir` is relative to the process's working directory now.
    pub fn read(value: &Value) -> Result<Self, InputError> {
        let mut fields = Fields::of(value, "options")?;
        let vault_dir = fields.field("vaultDir");
        let path = match vault_dir.text()? {
            None => None,
            Some(text) => {
                Some(std::path::absolute(text).map_err(|_| vault_dir.wrong("the path of a directory"))?)
            }
        };
        // What keeps the event loop, and who is told, is JavaScript's to do; their shape is checked here all the same.
        fields.field("keepAlive").flag()?;
        for listener in ["onStarted", "onRefused"] {
            fields.field(listener).function()?;
        }
        let has_on_settled = fields.field("onSettled").function()?;
        let retention = fields.field("retention");
        let options = Self {
            vault_dir: path,
            isolate_sessions: fields.field("isolateSessions").flag()?.unwrap_or(false),
            max_vault_bytes: fields.field("maxVaultBytes").positive_integer()?,
            retention: match retention.value() {
                Value::Absent => None,
                value => Some(read_retention(value, retention.path())?),
            },
            has_on_settled,
            sync: fields.field("durability").word(&[("rename", false), ("fsync", true)])?.unwrap_or(false),
        };
        fields.finish()?;
        Ok(options)
    }
}
