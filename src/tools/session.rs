//! Whose call it is.

use crate::input::{Fields, InputError, Value};
use crate::policy::read_session_id;

/// Reads `{ sessionId? }`, which the caller knows as `what`. JavaScript takes a usable `abortSignal` out before, so one
/// that is still there is none.
pub(super) fn read_context(context: &Value, what: &str) -> Result<Option<String>, InputError> {
    let nothing = Value::Absent;
    let context = if *context == Value::Null { &nothing } else { context };
    let mut fields = Fields::of(context, what)?.null_is_absent();
    let session = read_session_id(&fields.field("sessionId"))?.map(str::to_owned);
    let signal = fields.field("abortSignal");
    if *signal.value() != Value::Absent {
        return Err(signal.wrong("an AbortSignal"));
    }
    fields.finish()?;
    Ok(session)
}

/// A start's options with the session that holds where they name none.
pub(super) fn with_session(options: Value, session: Option<String>) -> Value {
    let Some(session) = session else { return options };
    let mut entries = match options {
        Value::Absent => Vec::new(),
        Value::Record(entries) => entries,
        misshapen => return misshapen,
    };
    entries.retain(|(name, value)| name != "sessionId" || *value != Value::Absent);
    if !entries.iter().any(|(name, _)| name == "sessionId") {
        entries.push(("sessionId".into(), Value::Text(session)));
    }
    Value::Record(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn record(entries: &[(&str, Value)]) -> Value {
        Value::Record(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn a_context_names_a_session_or_none() {
        let read = |context: &Value| read_context(context, "context").map_err(|error| error.to_string());
        for none in [Value::Absent, Value::Null, record(&[]), record(&[("sessionId", Value::Null)])] {
            assert_eq!(read(&none), Ok(None), "{none:?}");
        }
        let signal = ("abortSignal", Value::Null);
        assert_eq!(read(&record(&[("sessionId", text("a")), signal])), Ok(Some("a".into())));
        for (bad, word) in [
            (text("a"), "context must be an object"),
            (record(&[("sessionID", text("a"))]), "Did you mean \"sessionId\"?"),
            (record(&[("sessionId", text(""))]), "context.sessionId must be a non-empty string"),
            (record(&[("abortSignal", text("x"))]), "context.abortSignal must be an AbortSignal"),
        ] {
            let message = read(&bad).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn the_tool_contexts_session_holds_where_a_start_names_none() {
        let default = || Some("tools".to_owned());
        let own = record(&[("sessionId", text("own"))]);
        assert_eq!(with_session(own.clone(), default()), own);
        assert_eq!(with_session(Value::Absent, default()), record(&[("sessionId", text("tools"))]));
        let unset = record(&[("sessionId", Value::Absent), ("cwd", text("x"))]);
        assert_eq!(
            with_session(unset, default()),
            record(&[("cwd", text("x")), ("sessionId", text("tools"))])
        );
        assert_eq!(with_session(Value::Absent, None), Value::Absent);
        assert_eq!(with_session(Value::Null, default()), Value::Null, "refused as it is");
    }
}
