//! A policy as others see it: what the getter shows, and the digest that the audit trail names it by.

use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::confinement::Confinement;
use super::executable::{AllowedExecutable, hex};
use super::pattern::CommandPattern;
use super::rules::Policy;

/// All that is data, defaults filled in; what is absent without a default stays absent.
pub(super) fn shown(policy: &Policy) -> Json {
    let budget = policy.budgets.default_budget();
    let executables: Vec<_> = policy.executables.all().iter().map(executable).collect();
    let commands =
        policy.patterns.as_ref().map(|all| all.iter().map(CommandPattern::to_wire).collect::<Vec<_>>());
    let entries = [
        ("allowedExecutables", Some(json!(executables))),
        ("cwdRoot", Some(json!(policy.cwd_root))),
        ("allowedCommands", commands.map(|commands| json!(commands))),
        ("approvalTimeoutMs", Some(json!(policy.approval_timeout_ms))),
        ("inheritEnv", Some(policy.inherit_env.to_wire())),
        ("defaultTimeoutMs", Some(json!(budget.timeout_ms))),
        ("maxTimeoutMs", policy.budgets.max_timeout_ms().map(|ms| json!(ms))),
        ("maxOutputBytes", Some(json!(budget.max_output_bytes))),
        ("maxTotalOutputBytes", budget.max_total_output_bytes.map(|bytes| json!(bytes))),
        ("killGraceMs", Some(json!(budget.kill_grace_ms))),
        ("strayGraceMs", Some(json!(budget.stray_grace_ms))),
        ("maxConcurrent", policy.max_concurrent.map(|count| json!(count))),
        ("queueTimeoutMs", policy.queue_timeout_ms.map(|ms| json!(ms))),
        ("limits", Some(json!(policy.limits))),
        ("confinement", policy.confinement.as_ref().map(Confinement::to_wire)),
    ];
    let present = entries.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Json::Object(present.collect::<Map<_, _>>())
}

/// SHA-256 over [`shown`] and what it doesn't tell: the hooks' presence, and whether the output's cap is a ceiling.
pub(super) fn digest(policy: &Policy) -> String {
    let whole = json!([
        shown(policy),
        { "approve": policy.approve, "allowlist": policy.allowlist, "ceiling": policy.budgets.output_ceiling() },
    ]);
    hex(&Sha256::digest(canonical(&whole).to_string().as_bytes()))
}

/// The same value with its keys in order, whatever map `serde_json` was built with.
fn canonical(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<_> =
                map.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

fn executable(allowed: &AllowedExecutable) -> Json {
    match allowed.sha256_hex() {
        None => json!(allowed.name()),
        Some(sha256) => json!({ "path": allowed.name(), "sha256": sha256 }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{policy, value, with};
    use super::*;
    use crate::input::Value;

    #[test]
    fn defaults_are_filled_in_and_hooks_left_out() {
        let given = value(json!({ "allowedExecutables": ["git"], "cwdRoot": "/srv" }));
        let given = with(with(given, "approve", Value::Function), "allowlist", Value::Function);
        let expected = json!({
            "allowedExecutables": ["git"], "cwdRoot": "/srv", "approvalTimeoutMs": 300_000, "inheritEnv": "all",
            "defaultTimeoutMs": 120_000, "maxOutputBytes": 10_485_760, "killGraceMs": 5_000,
            "strayGraceMs": 1_000, "limits": {},
        });
        assert_eq!(Policy::parse(&given).unwrap().to_wire(), expected);
    }

    #[test]
    fn a_policy_that_says_everything_is_shown_as_it_was_given() {
        let given = json!({
            "allowedExecutables": ["git", { "path": "/bin/ls", "sha256": "ab".repeat(32) }], "cwdRoot": "/srv",
            "allowedCommands": [["git", { "rest": true }]], "approvalTimeoutMs": 1, "inheritEnv": ["PATH"],
            "defaultTimeoutMs": 2, "maxTimeoutMs": 3, "maxOutputBytes": 4, "maxTotalOutputBytes": 5,
            "killGraceMs": 0, "strayGraceMs": 0, "maxConcurrent": 6, "queueTimeoutMs": 7,
            "limits": { "cpuSeconds": 8 },
        });
        assert_eq!(policy(given.clone()).to_wire(), given);
    }

    #[test]
    fn the_digest_follows_the_data_and_nothing_else() {
        let base = json!({ "allowedExecutables": ["git"], "cwdRoot": "/srv" });
        let digest = policy(base.clone()).digest().to_owned();
        assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()));
        assert_eq!(policy(json!({ "cwdRoot": "/srv", "allowedExecutables": ["git"] })).digest(), digest);
        let spelled_out = with(value(base.clone()), "killGraceMs", Value::Number(5_000.0));
        assert_eq!(Policy::parse(&spelled_out).unwrap().digest(), digest);
        let others = [
            ("approve", Value::Function),
            ("allowlist", Value::Function),
            ("maxTimeoutMs", Value::Number(200_000.0)),
            ("maxOutputBytes", Value::Number(10_485_760.0)),
            ("allowedCommands", Value::List(vec![])),
        ];
        for (name, setting) in others {
            let other = Policy::parse(&with(value(base.clone()), name, setting)).unwrap();
            assert_ne!(other.digest(), digest, "{name}");
        }
    }
}
