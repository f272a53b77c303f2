//! A policy as a whole: immutable once read.

use super::budget::Budgets;
use super::confinement::{Confinement, Wish};
use super::environment::InheritEnv;
use super::error::PolicyError;
use super::executable::{AllowedExecutable, Executables};
use super::pattern::{CommandPattern, read_patterns};
use super::resource::ResourceLimits;
use super::wire;
use crate::input::{Fields, InputError, Value};
use crate::limits;

/// What a host allows. It never changes; another policy takes its place, and holds for later starts only.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(super) executables: Executables,
    pub(super) cwd_root: String,
    pub(super) patterns: Option<Vec<CommandPattern>>,
    pub(super) approve: bool,
    pub(super) allowlist: bool,
    pub(super) approval_timeout_ms: u64,
    pub(super) inherit_env: InheritEnv,
    pub(super) budgets: Budgets,
    pub(super) max_concurrent: Option<u64>,
    pub(super) queue_timeout_ms: Option<u64>,
    pub(super) limits: ResourceLimits,
    pub(super) confinement: Option<Confinement>,
    digest: String,
}

impl Policy {
    /// Reads a `BackgroundCommandPolicy`.
    pub fn parse(value: &Value) -> Result<Self, PolicyError> {
        let bad = PolicyError::BadPolicy;
        let mut fields = Fields::of(value, "policy").map_err(bad)?;
        let executables = Executables::read(&fields.field("allowedExecutables"))?;
        let cwd_root = fields.field("cwdRoot");
        let cwd_root = match cwd_root.filled_text().map_err(bad)? {
            Some(root) => root.to_owned(),
            None => return Err(bad(cwd_root.wrong("the path of a directory"))),
        };
        let patterns = read_patterns(&fields.field("allowedCommands"), &executables)?;
        let budgets = Budgets::read(&mut fields)?;
        let mut policy = Self::rest(fields, executables, cwd_root, patterns, budgets).map_err(bad)?;
        policy.digest = wire::digest(&policy);
        Ok(policy)
    }

    fn rest(
        mut fields: Fields<'_>,
        executables: Executables,
        cwd_root: String,
        patterns: Option<Vec<CommandPattern>>,
        budgets: Budgets,
    ) -> Result<Self, InputError> {
        let confinement = fields.field("confinement");
        let policy = Self {
            executables,
            cwd_root,
            patterns,
            approve: fields.field("approve").function()?,
            allowlist: fields.field("allowlist").function()?,
            approval_timeout_ms: fields
                .field("approvalTimeoutMs")
                .positive_integer()?
                .unwrap_or(limits::DEFAULT_APPROVAL_TIMEOUT_MS),
            inherit_env: InheritEnv::read(&fields.field("inheritEnv"))?,
            budgets,
            max_concurrent: fields.field("maxConcurrent").positive_integer()?,
            queue_timeout_ms: fields.field("queueTimeoutMs").positive_integer()?,
            limits: ResourceLimits::read(&fields.field("limits"))?,
            confinement: Wish::read(&confinement)?.map(|wish| wish.alone(&confinement)).transpose()?,
            digest: String::new(),
        };
        fields.finish()?;
        Ok(policy)
    }

    /// What may start, in the policy's order.
    pub fn executables(&self) -> &[AllowedExecutable] {
        self.executables.all()
    }

    /// The root as given; it is opened at each start.
    pub fn cwd_root(&self) -> &str {
        &self.cwd_root
    }

    /// Whether there is an `approve` hook.
    pub fn asks_approval(&self) -> bool {
        self.approve
    }

    /// Whether there is an `allowlist` hook.
    pub fn has_allowlist(&self) -> bool {
        self.allowlist
    }

    /// How long a hook may take, in milliseconds.
    pub fn approval_timeout_ms(&self) -> u64 {
        self.approval_timeout_ms
    }

    /// How many commands may run at once, if that is bounded.
    pub fn max_concurrent(&self) -> Option<u64> {
        self.max_concurrent
    }

    /// How long a command may wait in the queue, in milliseconds, if that is bounded.
    pub fn queue_timeout_ms(&self) -> Option<u64> {
        self.queue_timeout_ms
    }

    /// Defaults and ceilings of time and output.
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// What a start without `env` gets.
    pub fn inherit_env(&self) -> &InheritEnv {
        &self.inherit_env
    }

    /// What the kernel holds each command to.
    pub fn resource_limits(&self) -> &ResourceLimits {
        &self.limits
    }

    /// What the kernel holds each tree to, if it does.
    pub fn confinement(&self) -> Option<&Confinement> {
        self.confinement.as_ref()
    }

    /// SHA-256 over all that is data, in hexadecimal; hooks count by their presence.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What `getBackgroundCommandPolicy()` shows: defaults filled in, hooks left out.
    pub fn to_wire(&self) -> serde_json::Value {
        wire::shown(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{message, value, with};
    use super::*;
    use crate::error::Code;

    fn refused(value: &Value) -> String {
        let (code, message) = message(&Policy::parse(value).unwrap_err());
        assert_eq!(code, Code::BadPolicy, "{message}");
        assert!(message.contains("The policy before stays in force."), "{message}");
        message
    }

    #[test]
    fn a_misshapen_policy_is_refused_by_name() {
        let cases = [
            (json!({}), "policy.allowedExecutables must be a non-empty array"),
            (json!({ "allowedExecutables": ["git"] }), "policy.cwdRoot must be the path of a directory"),
            (
                json!({ "allowedExecutables": ["git"], "cwdRoot": "" }),
                "policy.cwdRoot must be a non-empty string",
            ),
            (json!({ "allowedExecutables": ["git"], "cwdRoot": 1 }), "policy.cwdRoot must be a string"),
            (json!({ "allowedExecutables": ["git"], "cwdRoot": "/a\u{0}" }), "NUL"),
            (json!(null), "policy must be an object, not null"),
            (json!("git"), "policy must be an object"),
        ];
        for (policy, word) in cases {
            let message = refused(&value(policy.clone()));
            assert!(message.contains(word), "{policy}: {message}");
        }
        let base = json!({ "allowedExecutables": ["git"], "cwdRoot": "/" });
        let extra = [
            ("approve", json!(true), "policy.approve must be a function"),
            ("allowlist", json!(["git"]), "policy.allowlist must be a function"),
            ("approvalTimeoutMs", json!(0), "policy.approvalTimeoutMs must be a positive integer"),
            ("maxConcurrent", json!(0), "policy.maxConcurrent must be a positive integer"),
            ("queueTimeoutMs", json!("1"), "policy.queueTimeoutMs must be a positive integer"),
            ("inheritEnv", json!("none"), "policy.inheritEnv"),
            ("limits", json!([]), "policy.limits must be an object"),
            ("confinement", json!({}), "policy.confinement.level must be"),
            ("allowedExecutable", json!([]), "Did you mean \"allowedExecutables\"?"),
            ("timeoutMs", json!(1), "policy has no option \"timeoutMs\""),
        ];
        for (name, setting, word) in extra {
            let message = refused(&with(value(base.clone()), name, value(setting)));
            assert!(message.contains(word), "{name}: {message}");
        }
    }

    #[test]
    fn what_is_read_is_what_is_answered() {
        let policy = value(json!({
            "allowedExecutables": ["git"], "cwdRoot": "/srv", "maxConcurrent": 3, "queueTimeoutMs": 9,
            "approvalTimeoutMs": 4_294_967_296_u64, "inheritEnv": "minimal", "limits": { "openFiles": 7 },
        }));
        let policy = Policy::parse(&with(policy, "approve", Value::Function)).unwrap();
        assert_eq!(policy.executables()[0].name(), "git");
        assert_eq!(policy.cwd_root(), "/srv");
        assert!(policy.asks_approval() && !policy.has_allowlist());
        assert_eq!(policy.approval_timeout_ms(), 1 << 32);
        assert_eq!((policy.max_concurrent(), policy.queue_timeout_ms()), (Some(3), Some(9)));
        assert_eq!(policy.inherit_env(), &InheritEnv::Minimal);
        assert_eq!(policy.resource_limits().open_files, Some(7));
    }
}
