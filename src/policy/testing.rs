//! Short ways to the values that the tests of this stage give, and to the code and message that they get.

use super::error::PolicyError;
use super::executable::Executables;
use super::pattern::{CommandPattern, read_patterns};
use super::rules::Policy;
use crate::error::Code;
use crate::input::{Field, Value};

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(super) fn texts(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| text(item)).collect())
}

pub(super) fn record(entries: &[(&str, Value)]) -> Value {
    Value::Record(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

pub(super) fn value(json: serde_json::Value) -> Value {
    json.into()
}

/// `of` with one more key.
pub(super) fn with(of: Value, key: &str, item: Value) -> Value {
    let Value::Record(mut entries) = of else { panic!("{of:?} has no keys") };
    entries.push((key.to_owned(), item));
    Value::Record(entries)
}

pub(super) fn policy(json: serde_json::Value) -> Policy {
    Policy::parse(&value(json)).unwrap()
}

pub(super) fn try_patterns(json: serde_json::Value) -> Result<Vec<CommandPattern>, PolicyError> {
    let executables = value(serde_json::json!(["git", "npm"]));
    let executables = Executables::read(&Field::argument("policy.allowedExecutables", &executables)).unwrap();
    let commands = value(json);
    read_patterns(&Field::argument("policy.allowedCommands", &commands), &executables).map(Option::unwrap)
}

pub(super) fn patterns(json: serde_json::Value) -> Vec<CommandPattern> {
    try_patterns(json).unwrap()
}

/// The code that the variant's doc promises, and the whole message, which is held to its form.
pub(super) fn message(error: &PolicyError) -> (Code, String) {
    let (problem, recovery) = (error.to_string(), error.recovery());
    for part in [&problem, &recovery] {
        assert!(part.ends_with(['.', '?']) && !part.contains('\n'), "{part}");
    }
    assert!(recovery.ends_with('.'), "{recovery}");
    assert!(error.details().is_object());
    (crate::error::Error::from(error.clone()).code(), format!("{problem} {recovery}"))
}
