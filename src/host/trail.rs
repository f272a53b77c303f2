//! What goes into the audit trail: each start before it runs, each refusal.

use super::CommandHost;
use super::start::Prepared;
use crate::error::Error;
use crate::input::Value;
use crate::os::clock::epoch_ms;
use crate::program::Located;
use crate::vault::audit::{self, bounded_argv};
use crate::vault::record::CommandFile;

impl CommandHost {
    /// Before anything runs: a start that can't be written down doesn't happen.
    pub(super) fn audit_start(&self, prepared: &Prepared, command: &CommandFile) -> std::io::Result<()> {
        let identity = match &prepared.program {
            Located::Found(program) => Some(program.facts().identity),
            Located::Unstartable(_) => None,
        };
        let Ok(storage) = self.storage() else { return Ok(()) };
        storage.audit.append(&audit::Entry {
            time: command.started_at,
            event: if identity.is_some() { "started" } else { "start-failed" },
            code: None,
            task_id: Some(&command.task_id),
            policy: Some(prepared.policy.rules.digest()),
            argv: bounded_argv(command.argv.iter().map(String::as_str)),
            cwd: Some(&command.cwd),
            executable: Some(&command.executable),
            identity,
            confinement: command.confinement.as_ref().map(crate::confinement::Confined::summary),
            session_id: command.session_id.as_deref(),
            host_pid: command.host_pid,
        })
    }

    /// A refusal stands whether or not its line can be written.
    pub(super) fn audit_refusal(&self, error: &Error, policy: Option<&str>, argv: &Value, options: &Value) {
        let texts: &[Value] = match argv {
            Value::List(items) => items,
            _ => std::slice::from_ref(argv),
        };
        let described: Vec<String> = texts
            .iter()
            .take(crate::limits::AUDIT_ARGV_CHARS)
            .map(|item| match item {
                Value::Text(text) => text.clone(),
                other => other.describe(),
            })
            .collect();
        let Ok(storage) = self.storage() else { return };
        let _ = storage.audit.append(&audit::Entry {
            time: epoch_ms(),
            event: "refused",
            code: Some(error.code().name()),
            task_id: None,
            policy,
            argv: bounded_argv(described.iter().map(String::as_str)),
            cwd: options.text_at("cwd"),
            executable: None,
            identity: None,
            confinement: None,
            session_id: options.text_at("sessionId"),
            host_pid: std::process::id(),
        });
    }
}
