//! Starts that wait for a hook's word. What was checked is held meanwhile: argv by value, working directory and
//! program by descriptor.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::error::{HostError, Verdict};
use super::start::Prepared;
use crate::confinement::Shown;
use crate::input::{Fields, InputError, Value, quoted};

/// Which hook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// None of the patterns matched.
    Approve,
    /// The last word.
    Allowlist,
}

/// What a hook is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRequest {
    /// The exact argv.
    pub argv: Vec<String>,
    /// Where it would run, as resolved.
    pub cwd: String,
    /// The file that would run.
    pub executable: String,
    /// The names of its environment's variables.
    pub env_names: Vec<String>,
    /// Its time budget, in milliseconds.
    pub timeout_ms: u64,
    /// Bytes kept of each stream.
    pub max_output_bytes: u64,
    /// What the kernel would hold it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Shown>,
    /// What people would call it.
    pub label: String,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// A question as it goes out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The hook.
    pub question: Hook,
    /// To be given back with the answer.
    pub ticket: u64,
    /// What it is about.
    pub request: HookRequest,
    /// After how long no answer is a refusal.
    pub timeout_ms: u64,
}

/// Open questions of one host.
#[derive(Debug, Default)]
pub struct Questions {
    open: Mutex<HashMap<u64, (Hook, Prepared)>>,
    last: AtomicU64,
}

impl Questions {
    /// Puts a start aside until its hook has answered.
    pub fn ask(&self, hook: Hook, prepared: Prepared) -> Question {
        let ticket = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let question = Question {
            question: hook,
            ticket,
            request: prepared.hook_request(),
            timeout_ms: prepared.policy.rules.approval_timeout_ms(),
        };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket, (hook, prepared));
        question
    }

    /// Takes a start up again.
    pub fn take(&self, ticket: u64) -> Result<(Hook, Prepared), HostError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&ticket).ok_or(HostError::NoSuchQuestion)
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A hook's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// `true`, and nothing else.
    Allowed,
    /// Anything else.
    Refused(Refusal),
}

/// Why an answer refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The hook did.
    Hook(HookVerdict),
    /// The one who asked has given up.
    Aborted,
}

/// What the hook said, its time bound not yet filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookVerdict {
    /// A verdict as it stands.
    Given(Verdict),
    /// No answer in time.
    TimedOut,
}

impl Answer {
    /// Reads `{ value } | { thrown } | { timedOut } | { aborted }`.
    pub fn read(value: &Value) -> Result<Self, InputError> {
        let mut fields = Fields::of(value, "reply")?;
        let (thrown, timed_out, aborted) =
            (fields.field("thrown"), fields.field("timedOut"), fields.field("aborted"));
        let word = fields.field("value");
        fields.finish()?;
        let refused = |verdict| Self::Refused(Refusal::Hook(HookVerdict::Given(verdict)));
        Ok(if aborted.flag()?.unwrap_or(false) {
            Self::Refused(Refusal::Aborted)
        } else if timed_out.flag()?.unwrap_or(false) {
            Self::Refused(Refusal::Hook(HookVerdict::TimedOut))
        } else if *thrown.value() == Value::Absent {
            match word.value() {
                Value::Bool(true) => Self::Allowed,
                Value::Text(words) if !words.trim().is_empty() => refused(Verdict::Words(words.clone())),
                other => refused(Verdict::Other(other.describe())),
            }
        } else {
            match thrown.value() {
                Value::Text(message) => refused(Verdict::Threw(quoted(message))),
                other => refused(Verdict::Threw(other.describe())),
            }
        })
    }
}

impl HookVerdict {
    /// As the refusal of `hook`, which had `timeout_ms`.
    pub fn into_error(self, hook: Hook, timeout_ms: u64) -> HostError {
        let reason = match self {
            Self::Given(verdict) => verdict,
            Self::TimedOut => Verdict::TimedOut(timeout_ms),
        };
        match hook {
            Hook::Approve => HostError::ApprovalDenied { reason },
            Hook::Allowlist => HostError::Vetoed { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(key: &str, value: Value) -> Value {
        Value::Record(vec![(key.to_owned(), value)])
    }

    #[test]
    fn only_true_allows() {
        assert_eq!(Answer::read(&reply("value", Value::Bool(true))), Ok(Answer::Allowed));
        let others = [
            Value::Absent,
            Value::Null,
            Value::Bool(false),
            Value::Number(1.0),
            Value::Text("true".into()),
            Value::Record(vec![("allowed".into(), Value::Bool(true))]),
            Value::Function,
        ];
        for other in others {
            assert!(
                matches!(Answer::read(&reply("value", other.clone())), Ok(Answer::Refused(_))),
                "{other:?}"
            );
        }
        assert!(matches!(Answer::read(&reply("thrown", Value::Text("x".into()))), Ok(Answer::Refused(_))));
        assert!(matches!(Answer::read(&Value::Record(Vec::new())), Ok(Answer::Refused(_))));
    }

    #[test]
    fn a_hooks_own_string_is_the_message() {
        let Ok(Answer::Refused(Refusal::Hook(verdict))) =
            Answer::read(&reply("value", Value::Text("not today".into())))
        else {
            panic!("no refusal");
        };
        let error = verdict.into_error(Hook::Allowlist, 5);
        assert!(error.is_verbatim());
        assert_eq!(error.to_string(), "not today");
    }
}
