//! Reading `allowedCommands`. A pattern that could not mean what it says is refused when the policy is set.

use super::matching::{CommandPattern, Position};
use crate::input::{Field, InputError, Value, quoted};
use crate::policy::error::PolicyError;
use crate::policy::executable::Executables;

/// Why a pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternFault {
    /// It has no element.
    Empty,
    /// `{ rest: true }` stands first: it would allow everything.
    RestFirst,
    /// Something follows `{ rest: true }`.
    RestNotLast {
        /// Where `rest` stands.
        index: usize,
    },
    /// It begins with an executable that the policy doesn't allow.
    NotAllowed {
        /// The executable.
        executable: String,
    },
}

impl PatternFault {
    pub(in crate::policy) fn said(&self) -> String {
        match self {
            Self::Empty => "is an empty pattern".into(),
            Self::RestFirst => "begins with { rest: true }, which would match every command".into(),
            Self::RestNotLast { index } => {
                format!("has {{ rest: true }} at {index}, with more behind it that it would swallow")
            }
            Self::NotAllowed { executable } => {
                format!("begins with {}, which is not in allowedExecutables", quoted(executable))
            }
        }
    }

    pub(in crate::policy) fn remedy(&self) -> &'static str {
        match self {
            Self::Empty | Self::RestFirst => "Begin the pattern with an executable.",
            Self::RestNotLast { .. } => "Put { rest: true } last.",
            Self::NotAllowed { .. } => "Add it to allowedExecutables, or remove the pattern.",
        }
    }
}

/// `allowedCommands`, if it is given.
pub(in crate::policy) fn read_patterns(
    field: &Field<'_>,
    executables: &Executables,
) -> Result<Option<Vec<CommandPattern>>, PolicyError> {
    let Some(elements) = field.elements().map_err(PolicyError::BadPolicy)? else {
        return Ok(None);
    };
    let read = |element: &Field<'_>| {
        let pattern = read_pattern(element)?;
        check(element.path(), &pattern, executables)?;
        Ok(pattern)
    };
    elements.iter().map(read).collect::<Result<Vec<_>, _>>().map(Some)
}

fn read_pattern(field: &Field<'_>) -> Result<CommandPattern, PolicyError> {
    match field.value() {
        Value::List(_) => read_argv(field, None),
        Value::Record(_) => {
            let mut fields = field.fields().map_err(PolicyError::BadPolicy)?;
            let (name, argv) = (fields.field("name"), fields.field("argv"));
            fields.finish().map_err(PolicyError::BadPolicy)?;
            match name.filled_text().map_err(PolicyError::BadPolicy)? {
                None => Err(PolicyError::BadPolicy(name.wrong("a non-empty string"))),
                Some(text) => read_argv(&argv, Some(text.to_owned())),
            }
        }
        _ => Err(PolicyError::BadPolicy(field.wrong("a pattern (an array) or { name, argv }"))),
    }
}

fn read_argv(field: &Field<'_>, name: Option<String>) -> Result<CommandPattern, PolicyError> {
    let Some(elements) = field.elements().map_err(PolicyError::BadPolicy)? else {
        return Err(PolicyError::BadPolicy(field.wrong("an array")));
    };
    let fault = |fault| PolicyError::BadPattern { path: field.path().to_owned(), fault };
    let mut positions = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        match read_element(element).map_err(PolicyError::BadPolicy)? {
            Some(position) => positions.push(position),
            None if index == 0 => return Err(fault(PatternFault::RestFirst)),
            None if index + 1 < elements.len() => return Err(fault(PatternFault::RestNotLast { index })),
            None => return Ok(CommandPattern { name, positions, rest: true }),
        }
    }
    if positions.is_empty() {
        return Err(fault(PatternFault::Empty));
    }
    Ok(CommandPattern { name, positions, rest: false })
}

/// One element; `None` is `{ rest: true }`.
fn read_element(field: &Field<'_>) -> Result<Option<Position>, InputError> {
    if !matches!(field.value(), Value::Record(_)) {
        let expected = "a string, { oneOf: [strings] } or { rest: true }";
        return match field.text() {
            Ok(Some(text)) => Ok(Some(Position::Literal(text.to_owned()))),
            Err(error) if matches!(field.value(), Value::Text(_) | Value::BrokenText) => Err(error),
            _ => Err(field.wrong(expected)),
        };
    }
    let mut fields = field.fields()?;
    let (one_of, rest) = (fields.field("oneOf"), fields.field("rest"));
    fields.finish()?;
    match (one_of.value(), rest.value()) {
        (Value::Absent, Value::Bool(true)) => Ok(None),
        (Value::Absent, Value::Absent) => Err(field.wrong("{ oneOf: [strings] } or { rest: true }")),
        (Value::Absent, _) => Err(rest.wrong("true")),
        (_, Value::Absent) => read_one_of(&one_of).map(Some),
        _ => Err(field.wrong("either { oneOf: [strings] } or { rest: true }")),
    }
}

fn read_one_of(field: &Field<'_>) -> Result<Position, InputError> {
    let elements = field.elements()?.unwrap_or_default();
    if elements.is_empty() {
        return Err(field.wrong("a non-empty array of strings"));
    }
    let string =
        |element: &Field<'_>| element.text()?.map(str::to_owned).ok_or_else(|| element.wrong("a string"));
    elements.iter().map(string).collect::<Result<Vec<_>, _>>().map(Position::OneOf)
}

fn check(path: &str, pattern: &CommandPattern, executables: &Executables) -> Result<(), PolicyError> {
    let names = pattern.positions.first().map(Position::strings).unwrap_or_default();
    match names.iter().find(|name| executables.find(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(PolicyError::BadPattern {
            path: path.to_owned(),
            fault: PatternFault::NotAllowed { executable: name.clone() },
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::testing::{message, try_patterns};
    use crate::error::Code;

    #[test]
    fn a_pattern_that_could_not_mean_what_it_says_is_refused() {
        let cases = [
            (json!("git status"), "allowedCommands must be an array"),
            (json!(["git status"]), "allowedCommands[0] must be a pattern"),
            (json!([["git"], []]), "allowedCommands[1] is an empty pattern"),
            (json!([[{ "rest": true }]]), "match every command"),
            (json!([["git", { "rest": true }, "x"]]), "Put { rest: true } last"),
            (json!([["git", { "rest": true }, { "rest": true }]]), "{ rest: true } at 1"),
            (json!([["git", { "rest": false }]]), "allowedCommands[0][1].rest must be true"),
            (json!([["git", { "rest": true, "oneOf": ["a"] }]]), "either"),
            (json!([["git", {}]]), "oneOf"),
            (json!([["git", { "oneof": ["a"] }]]), "Did you mean \"oneOf\"?"),
            (json!([["git", { "oneOf": [] }]]), "non-empty array"),
            (json!([["git", { "oneOf": "a" }]]), "array"),
            (json!([["git", { "oneOf": ["a", 1] }]]), "oneOf[1]"),
            (json!([["git", 5]]), "allowedCommands[0][1] must be a string"),
            (json!([["git", null]]), "allowedCommands[0][1] must be a string"),
            (json!([["git", "a\u{0}"]]), "NUL"),
            (json!([["rm", "-rf"]]), r#""rm", which is not in allowedExecutables"#),
            (json!([[{ "oneOf": ["git", "rm"] }]]), r#""rm""#),
            (json!([{ "argv": ["git"] }]), "name"),
            (json!([{ "name": "", "argv": ["git"] }]), "name must be a non-empty string"),
            (json!([{ "name": "x" }]), "argv must be an array"),
            (json!([{ "name": "x", "argv": ["git"], "cwd": "." }]), "no option \"cwd\""),
        ];
        for (commands, word) in cases {
            let (code, message) = message(&try_patterns(commands.clone()).unwrap_err());
            assert_eq!(code, Code::BadPolicy, "{commands}");
            assert!(message.contains(word), "{commands}: {message}");
        }
    }

    #[test]
    fn what_was_read_is_shown_again_as_it_was_given() {
        let commands = json!([
            ["git", "status"],
            { "name": "log", "argv": ["git", "log", { "oneOf": ["-1", ""] }, { "rest": true }] },
            [{ "oneOf": ["git", "npm"] }, "--version"],
        ]);
        let patterns = try_patterns(commands.clone()).unwrap();
        let wire: Vec<_> = patterns.iter().map(super::CommandPattern::to_wire).collect();
        assert_eq!(json!(wire), commands);
    }
}
