//! A JavaScript value, as far as options need one.

use std::fmt::Write as _;

/// What a caller passed. Objects keep their own enumerable keys in order; what can't be an option
/// (symbols, class instances, …) stays as the name of its kind, for the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `undefined`, or not given.
    Absent,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, unchecked: it may be NaN, infinite or a fraction.
    Number(f64),
    /// A string without lone surrogates.
    Text(String),
    /// A string with a lone surrogate: no bytes stand for it.
    BrokenText,
    /// A `Buffer` or another `Uint8Array`.
    Bytes(Vec<u8>),
    /// An array.
    List(Vec<Value>),
    /// A plain object's own enumerable keys, in order.
    Record(Vec<(String, Value)>),
    /// A function: only its presence can be checked here.
    Function,
    /// Anything else, by the name of its kind ("a symbol", "a BigInt", "an object nested too deeply", …).
    Other(&'static str),
}

/// What `JSON.parse` would give. A number that JSON can say and a double can't is the nearest one.
impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(flag),
            Json::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Self::Text(text),
            Json::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Json::Object(map) => {
                Self::Record(map.into_iter().map(|(key, item)| (key, item.into())).collect())
            }
        }
    }
}

impl Value {
    /// The text of an entry, where this is a record that has one of that name.
    pub fn text_at(&self, name: &str) -> Option<&str> {
        let Self::Record(entries) = self else { return None };
        match entries.iter().find(|(key, _)| key == name) {
            Some((_, Self::Text(text))) => Some(text),
            _ => None,
        }
    }

    /// What stands in a message: the kind, with the value where it is short.
    pub fn describe(&self) -> String {
        match self {
            Self::Absent => "undefined".into(),
            Self::Null => "null".into(),
            Self::Bool(value) => format!("the boolean {value}"),
            Self::Number(value) => format!("the number {value}"),
            Self::Text(text) => format!("the string {}", quoted(text)),
            Self::BrokenText => "a string with a lone surrogate".into(),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Self::List(items) if items.is_empty() => "an empty array".into(),
            Self::List(_) => "an array".into(),
            Self::Record(_) => "an object".into(),
            Self::Function => "a function".into(),
            Self::Other(kind) => (*kind).into(),
        }
    }
}

/// `text` in quotes for a message: control characters escaped, cut after 80 characters.
pub fn quoted(text: &str) -> String {
    quoted_within(text, 80)
}

/// [`quoted`], cut after `shown` characters: for paths that are of no use cut short.
pub fn quoted_within(text: &str, shown: usize) -> String {
    let mut out = String::from("\"");
    for (at, c) in text.chars().enumerate() {
        if at == shown {
            out.push('…');
            break;
        }
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "{}", c.escape_default());
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_record_is_found_by_its_name() {
        let record = Value::Record(vec![("a".into(), Value::Text("x".into())), ("b".into(), Value::Null)]);
        assert_eq!(record.text_at("a"), Some("x"));
        assert_eq!(
            (record.text_at("b"), record.text_at("c"), Value::Absent.text_at("a")),
            (None, None, None)
        );
    }

    #[test]
    fn a_quoted_text_is_one_bounded_line() {
        assert_eq!(quoted("a\n\"b\"\u{1b}"), r#""a\n\"b\"\u{1b}""#);
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), 83);
    }
}
