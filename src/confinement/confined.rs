//! What was enforced, as the status, the record and the audit trail say it.

use serde::{Deserialize, Serialize};

/// How one part of a confinement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enforcement {
    /// The kernel holds the tree to it.
    Enforced,
    /// It was asked for and this kernel can't.
    Unavailable,
    /// It was not asked for.
    NotRequested,
}

/// What a command was confined to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confined {
    /// `required` or `best-effort`.
    pub level: String,
    /// Which files the tree may execute.
    pub execute: Enforcement,
    /// Which files it may read.
    pub read: Enforcement,
    /// Which files it may write.
    pub write: Enforcement,
    /// Its sockets.
    pub network: Enforcement,
    /// Whom its signals reach.
    pub signals: Enforcement,
    /// The system calls that no build, test or question needs.
    pub syscalls: Enforcement,
    /// What may be executed, resolved; only where that is restricted, and only in `command.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executables: Option<Vec<String>>,
}

impl Confined {
    /// Without the list, for a record whose room is reserved.
    #[must_use]
    pub fn summary(&self) -> Self {
        Self { executables: None, ..self.clone() }
    }
}
