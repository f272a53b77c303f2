//! Time and output: what the policy allows, and what one start gets of it.

use serde::Serialize;

use super::error::PolicyError;
use crate::input::Fields;
use crate::limits;

/// What one command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// From the start to SIGTERM, in milliseconds.
    pub timeout_ms: u64,
    /// Bytes kept of each stream.
    pub max_output_bytes: u64,
    /// Bytes kept of both streams together, if that is bounded too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_output_bytes: Option<u64>,
    /// From SIGTERM to SIGKILL, in milliseconds.
    pub kill_grace_ms: u64,
    /// What processes left behind may still take, in milliseconds.
    pub stray_grace_ms: u64,
}

/// The policy's budgets: defaults, and ceilings where it set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    granted: Budget,
    max_timeout_ms: Option<u64>,
    output_ceiling: Option<u64>,
}

impl Budgets {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, PolicyError> {
        let mut positive = |name| fields.field(name).positive_integer().map_err(PolicyError::BadPolicy);
        let default_timeout_ms = positive("defaultTimeoutMs")?;
        let max_timeout_ms = positive("maxTimeoutMs")?;
        let output_ceiling = positive("maxOutputBytes")?;
        let max_total_output_bytes = positive("maxTotalOutputBytes")?;
        let mut grace = |name| fields.field(name).unsigned_integer().map_err(PolicyError::BadPolicy);
        let kill_grace_ms = grace("killGraceMs")?.unwrap_or(limits::DEFAULT_KILL_GRACE_MS);
        let stray_grace_ms = grace("strayGraceMs")?.unwrap_or(limits::DEFAULT_STRAY_GRACE_MS);

        let ceiling = max_timeout_ms.unwrap_or(limits::MAX_SAFE_INTEGER);
        if let Some(default) = default_timeout_ms.filter(|default| *default > ceiling) {
            return Err(PolicyError::DefaultAboveCeiling { default, ceiling });
        }
        let granted = Budget {
            timeout_ms: default_timeout_ms.unwrap_or(limits::DEFAULT_TIMEOUT_MS.min(ceiling)),
            max_output_bytes: output_ceiling.unwrap_or(limits::DEFAULT_MAX_OUTPUT_BYTES),
            max_total_output_bytes,
            kill_grace_ms,
            stray_grace_ms,
        };
        Ok(Self { granted, max_timeout_ms, output_ceiling })
    }

    /// What a start gets that asks for nothing.
    pub fn default_budget(&self) -> Budget {
        self.granted
    }

    /// The most time that a start may ask for, if the policy says.
    pub fn max_timeout_ms(&self) -> Option<u64> {
        self.max_timeout_ms
    }

    /// The most bytes of a stream that a start may ask for: only where the policy itself has `maxOutputBytes`.
    pub fn output_ceiling(&self) -> Option<u64> {
        self.output_ceiling
    }

    /// The default, or what is asked for where that is allowed. A higher wish is refused, never lowered in silence.
    pub(super) fn grant(
        &self,
        timeout_ms: Option<u64>,
        max_output_bytes: Option<u64>,
    ) -> Result<Budget, PolicyError> {
        let timeout_ms = below(timeout_ms, self.max_timeout_ms, "timeoutMs", "maxTimeoutMs")?;
        let max_output_bytes =
            below(max_output_bytes, self.output_ceiling, "maxOutputBytes", "maxOutputBytes")?;
        Ok(Budget {
            timeout_ms: timeout_ms.unwrap_or(self.granted.timeout_ms),
            max_output_bytes: max_output_bytes.unwrap_or(self.granted.max_output_bytes),
            ..self.granted
        })
    }
}

fn below(
    asked: Option<u64>,
    ceiling: Option<u64>,
    option: &'static str,
    ceiling_name: &'static str,
) -> Result<Option<u64>, PolicyError> {
    match (asked, ceiling) {
        (Some(asked), Some(ceiling)) if asked > ceiling => {
            Err(PolicyError::AboveCeiling { option, asked, ceiling, ceiling_name })
        }
        _ => Ok(asked),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{message, value};
    use super::*;
    use crate::error::Code;

    fn budgets(json: serde_json::Value) -> Result<Budgets, (Code, String)> {
        let value = value(json);
        Budgets::read(&mut Fields::of(&value, "policy").unwrap()).map_err(|e| message(&e))
    }

    #[test]
    fn what_the_policy_leaves_out_is_the_default() {
        let budgets = budgets(json!({})).unwrap();
        let expected = Budget {
            timeout_ms: 120_000,
            max_output_bytes: 10_485_760,
            max_total_output_bytes: None,
            kill_grace_ms: 5_000,
            stray_grace_ms: 1_000,
        };
        assert_eq!(budgets.grant(None, None), Ok(expected));
        let more = budgets.grant(Some(limits::MAX_SAFE_INTEGER), Some(1 << 40)).unwrap();
        assert_eq!((more.timeout_ms, more.max_output_bytes), (limits::MAX_SAFE_INTEGER, 1 << 40));
    }

    #[test]
    fn a_ceiling_is_kept_to_the_last_unit() {
        let budgets = budgets(json!({ "maxTimeoutMs": 4_000_000_000_u64, "maxOutputBytes": 100 })).unwrap();
        assert!(budgets.grant(Some(4_000_000_000), Some(100)).is_ok());
        let (code, time) = message(&budgets.grant(Some(4_000_000_001), None).unwrap_err());
        assert_eq!(code, Code::Budget);
        for word in
            ["options.timeoutMs", "4000000001", "maxTimeoutMs of 4000000000", "setBackgroundCommandPolicy"]
        {
            assert!(time.contains(word), "{word}: {time}");
        }
        let (code, output) = message(&budgets.grant(None, Some(101)).unwrap_err());
        assert_eq!(code, Code::Budget);
        assert!(output.contains("options.maxOutputBytes of 101"), "{output}");
    }

    #[test]
    fn the_built_in_default_gives_way_to_a_lower_ceiling() {
        let short = budgets(json!({ "maxTimeoutMs": 1_000 })).unwrap();
        assert_eq!(short.default_budget().timeout_ms, 1_000);
        let (code, text) = budgets(json!({ "maxTimeoutMs": 1_000, "defaultTimeoutMs": 1_001 })).unwrap_err();
        assert_eq!(code, Code::BadPolicy);
        assert!(text.contains("defaultTimeoutMs of 1001") && text.contains("maxTimeoutMs of 1000"), "{text}");
    }

    #[test]
    fn a_number_that_is_none_is_refused_by_name() {
        let positive = ["defaultTimeoutMs", "maxTimeoutMs", "maxOutputBytes", "maxTotalOutputBytes"];
        for name in positive {
            for bad in
                [json!(0), json!(-1), json!(1.5), json!("5"), json!(null), json!(9_007_199_254_740_992_u64)]
            {
                let (code, text) = budgets(json!({ name: bad.clone() })).unwrap_err();
                assert_eq!(code, Code::BadPolicy);
                assert!(text.contains(&format!("policy.{name} must be a positive integer")), "{bad}: {text}");
            }
        }
        for name in ["killGraceMs", "strayGraceMs"] {
            assert!(budgets(json!({ name: 0 })).is_ok());
            for bad in [json!(-1), json!(0.5), json!(true)] {
                let (_, text) = budgets(json!({ name: bad })).unwrap_err();
                assert!(text.contains("integer"), "{text}");
            }
        }
    }
}
