//! What is allowed but hardly meant: the warnings that setting a policy answers with.

use super::rules::Policy;
use crate::input::quoted;

/// Programs that run whatever their arguments say.
const RUNS_ANYTHING: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "sudo", "node", "deno", "bun",
    "npx", "python", "python3", "perl", "ruby", "php",
];

impl Policy {
    fn confines_execution(&self) -> bool {
        self.confinement().is_some_and(|confinement| confinement.execute.is_some())
    }

    /// Sentences for the host's author; none of them stops the policy.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for executable in self.executables() {
            let (name, shown) = (executable.name(), quoted(executable.name()));
            let base = name.rsplit('/').next().unwrap_or(name);
            match &self.patterns {
                Some(patterns) if !self.approve && !patterns.iter().any(|p| p.begins_with(name)) => {
                    warnings.push(format!(
                        "No pattern of allowedCommands begins with {shown} and there is no approve hook: it can \
                         never start. Add a pattern, or remove it from allowedExecutables."
                    ));
                }
                None if !self.approve
                    && !self.allowlist
                    && !self.confines_execution()
                    && RUNS_ANYTHING.contains(&base) =>
                {
                    warnings.push(format!(
                        "{shown} runs whatever its arguments say, so allowing it allows every program. Say in \
                         allowedCommands which arguments it may get."
                    ));
                }
                _ => {}
            }
        }
        if self.queue_timeout_ms.is_some() && self.max_concurrent.is_none() {
            warnings.push(
                "queueTimeoutMs has no effect without maxConcurrent: nothing is queued. Set both or neither."
                    .into(),
            );
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::policy;

    #[test]
    fn what_can_never_start_or_allows_everything_is_warned_about() {
        let base = |extra: serde_json::Value| {
            let mut policy = json!({ "allowedExecutables": ["git", "/bin/bash"], "cwdRoot": "/" });
            policy.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            policy
        };
        let cases = [
            (json!({}), vec!["\"/bin/bash\" runs whatever its arguments say"]),
            (json!({ "allowedCommands": [["git", { "rest": true }], ["/bin/bash", "a.sh"]] }), vec![]),
            (json!({ "allowedCommands": [["git", "status"]] }), vec!["begins with \"/bin/bash\""]),
            (json!({ "allowedCommands": [] }), vec!["begins with \"git\"", "begins with \"/bin/bash\""]),
            (json!({ "confinement": { "level": "required", "execute": "allowed" } }), vec![]),
            (
                json!({ "allowedExecutables": ["git"], "queueTimeoutMs": 5 }),
                vec!["queueTimeoutMs has no effect without maxConcurrent"],
            ),
        ];
        for (extra, expected) in cases {
            let warnings = policy(base(extra.clone())).warnings();
            assert_eq!(warnings.len(), expected.len(), "{extra}: {warnings:?}");
            for (warning, word) in warnings.iter().zip(expected) {
                assert!(warning.contains(word), "{extra}: {warning}");
            }
        }
    }
}
