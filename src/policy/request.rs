//! The options of one start, read but not yet held against the policy.

use super::argv::Argv;
use super::confinement::Wish;
use super::error::PolicyError;
use crate::input::{Field, Fields, InputError, Value};
use crate::limits;

/// What a caller asks for.
#[derive(Debug, Clone, Copy)]
pub struct StartRequest<'v> {
    /// argv as given.
    pub argv: &'v Value,
    /// The options as given, without the abort signal, which JavaScript keeps.
    pub options: &'v Value,
}

/// `BackgroundCommandOptions`, each of the right type and range.
#[derive(Debug)]
pub(super) struct StartOptions<'v> {
    pub(super) cwd: Option<&'v str>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) max_output_bytes: Option<u64>,
    pub(super) env: &'v Value,
    pub(super) input: Option<&'v [u8]>,
    pub(super) label: Option<&'v str>,
    pub(super) session_id: Option<&'v str>,
    pub(super) confinement: Option<(Field<'v>, Wish)>,
}

impl<'v> StartOptions<'v> {
    pub(super) fn read(value: &'v Value) -> Result<Self, PolicyError> {
        let mut fields = Fields::of(value, "options").map_err(PolicyError::BadOption)?;
        let cwd = fields.field("cwd");
        if let Value::Text(text) = cwd.value()
            && text.contains('\0')
        {
            return Err(PolicyError::CwdNul { cwd: text.clone() });
        }
        Self::rest(&cwd, fields).map_err(PolicyError::BadOption)
    }

    fn rest(cwd: &Field<'v>, mut fields: Fields<'v>) -> Result<Self, InputError> {
        let confinement = fields.field("confinement");
        let options = Self {
            // "" is the root, as "." is: resolved against the root, both name it.
            cwd: cwd.text()?.filter(|cwd| !cwd.is_empty()),
            timeout_ms: fields.field("timeoutMs").positive_integer()?,
            max_output_bytes: fields.field("maxOutputBytes").positive_integer()?,
            env: fields.field("env").value(),
            input: input(&fields.field("input"))?,
            label: label(&fields.field("label"))?,
            session_id: read_session_id(&fields.field("sessionId"))?,
            confinement: Wish::read(&confinement)?.map(|wish| (confinement, wish)),
        };
        fields.finish()?;
        Ok(options)
    }

    /// The label as given, else the first two entries of argv: one line, cut to its limit.
    pub(super) fn label_for(&self, argv: &Argv<'_>) -> String {
        match self.label.map(one_line).filter(|label| !label.trim().is_empty()) {
            Some(label) => label,
            None => one_line(&argv.entries().iter().take(2).copied().collect::<Vec<_>>().join(" ")),
        }
    }
}

fn input<'v>(field: &Field<'v>) -> Result<Option<&'v [u8]>, InputError> {
    let bytes = match field.value() {
        Value::Absent => return Ok(None),
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        Value::BrokenText => return Err(field.wrong("a string without lone surrogates, or bytes")),
        _ => return Err(field.wrong("a string or bytes")),
    };
    if bytes.len() > limits::MAX_INPUT_BYTES {
        return Err(InputError::Wrong {
            path: field.path().to_owned(),
            expected: format!("at most {} bytes", limits::MAX_INPUT_BYTES),
            got: format!("{} bytes", bytes.len()),
        });
    }
    Ok(Some(bytes))
}

fn label<'v>(field: &Field<'v>) -> Result<Option<&'v str>, InputError> {
    match field.value() {
        Value::Absent => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        Value::BrokenText => Err(field.wrong("a string without lone surrogates")),
        _ => Err(field.wrong("a string")),
    }
}

/// Whose command it is: a string with something in it; absent is `None`.
pub fn read_session_id<'v>(field: &Field<'v>) -> Result<Option<&'v str>, InputError> {
    match field.filled_text()? {
        Some(id) if id.encode_utf16().count() > limits::MAX_SESSION_ID_UNITS => {
            Err(field.wrong(format!("a string of at most {} characters", limits::MAX_SESSION_ID_UNITS)))
        }
        id => Ok(id),
    }
}

/// `text` without control characters and line breaks, at most the label's units, never half a surrogate pair.
fn one_line(text: &str) -> String {
    let mut units = 0;
    text.chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= limits::MAX_LABEL_UNITS
        })
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::testing::{message, record, text, texts, value};
    use super::*;
    use crate::error::Code;

    #[test]
    fn an_option_of_another_type_or_range_is_refused_by_name() {
        let long = "x".repeat(limits::MAX_SESSION_ID_UNITS + 1);
        let cases: &[(Value, &str)] = &[
            (value(json!({ "cwd": 5 })), "options.cwd must be a string"),
            (value(json!({ "cwd": "a\u{0}b" })), "options.cwd \"a\\u{0}b\" contains a NUL"),
            (record(&[("cwd", Value::BrokenText)]), "options.cwd must be a string without lone surrogates"),
            (value(json!({ "timeoutMs": 0 })), "options.timeoutMs must be a positive integer"),
            (value(json!({ "timeoutMs": "5" })), "options.timeoutMs must be a positive integer"),
            (record(&[("timeoutMs", Value::Number(f64::NAN))]), "positive integer"),
            (record(&[("timeoutMs", Value::Number(f64::INFINITY))]), "positive integer"),
            (value(json!({ "maxOutputBytes": 1.5 })), "options.maxOutputBytes must be a positive integer"),
            (value(json!({ "input": 5 })), "options.input must be a string or bytes"),
            (value(json!({ "label": null })), "options.label must be a string"),
            (value(json!({ "sessionId": "" })), "options.sessionId must be a non-empty string"),
            (record(&[("sessionId", text(&long))]), "at most 256"),
            (value(json!({ "shell": true })), "options has no option \"shell\""),
            (value(json!({ "timeoutMS": 5 })), "Did you mean \"timeoutMs\"?"),
            (record(&[("abortSignal", Value::Absent)]), "\"abortSignal\""),
            (Value::Null, "options must be an object"),
            (texts(&["x"]), "options must be an object"),
        ];
        for (options, word) in cases {
            let (code, message) = message(&StartOptions::read(options).unwrap_err());
            assert_eq!(code, Code::BadOption, "{message}");
            assert!(message.contains(word), "{word}: {message}");
        }
    }

    #[test]
    fn input_may_be_text_or_bytes_up_to_its_ceiling() {
        let read = |input: Value| {
            let options = record(&[("input", input)]);
            StartOptions::read(&options)
                .map(|options| options.input.map(<[u8]>::to_vec))
                .map_err(|e| message(&e))
        };
        assert_eq!(read(text("ä\0")).unwrap(), Some("ä\0".as_bytes().to_vec()));
        assert_eq!(read(Value::Bytes(vec![0, 255])).unwrap(), Some(vec![0, 255]));
        assert_eq!(read(text("")).unwrap(), Some(vec![]));
        assert_eq!(read(Value::Absent).unwrap(), None);
        assert!(read(Value::Bytes(vec![0; limits::MAX_INPUT_BYTES])).is_ok());
        let (code, message) = read(Value::Bytes(vec![0; limits::MAX_INPUT_BYTES + 1])).unwrap_err();
        assert_eq!(code, Code::BadOption);
        assert!(message.contains("options.input must be at most 67108864 bytes"), "{message}");
    }

    #[test]
    fn the_label_is_the_first_two_entries_unless_one_is_given() {
        let label = |options: serde_json::Value, argv: &[&str]| {
            let (options, argv) = (value(options), texts(argv));
            StartOptions::read(&options).unwrap().label_for(&Argv::read(&argv).unwrap())
        };
        assert_eq!(label(json!({}), &["npm", "test", "--watch"]), "npm test");
        assert_eq!(label(json!({}), &["ls"]), "ls");
        assert_eq!(label(json!({ "label": "unit tests" }), &["npm", "test"]), "unit tests");
        assert_eq!(label(json!({ "label": " " }), &["npm", "test"]), "npm test");
        assert_eq!(label(json!({}), &["sh", "a\nb\u{1b}[31m\u{0085}"]), "sh a b [31m ");
        let cut = label(json!({}), &["a", &format!("{}😀😀", "x".repeat(57))]);
        assert_eq!(cut, format!("a {}", "x".repeat(57)), "half a pair is left out");
    }

    proptest! {
        #[test]
        fn a_label_is_one_line_within_its_limit(given in any::<String>()) {
            let line = one_line(&given);
            prop_assert!(line.encode_utf16().count() <= limits::MAX_LABEL_UNITS);
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
