//! Reading an options object: every name asked for is known, every other one is refused with the nearest.

use super::field::{Field, nearest};
use super::value::{Value, quoted};

/// Why a value has the wrong shape. The stage that asked gives it its code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The whole is not a plain object.
    #[error("{what} must be an object, not {got}.")]
    NotAnObject {
        /// What was read, as the caller knows it.
        what: String,
        /// What came instead.
        got: String,
    },
    /// A key that nothing reads: a typing error must not pass as a setting.
    #[error("{what} has no option {}.{}", quoted(key), nearest.as_ref().map(|name| format!(" Did you mean \"{name}\"?")).unwrap_or_default())]
    UnknownKey {
        /// What was read.
        what: String,
        /// The key.
        key: String,
        /// The known name that is most like it, if one is.
        nearest: Option<&'static str>,
    },
    /// What can't be left out.
    #[error("{path} is required.")]
    Missing {
        /// The option, with what it belongs to.
        path: String,
    },
    /// A value of the wrong type or out of range.
    #[error("{path} must be {expected}, not {got}.")]
    Wrong {
        /// The option, with what it belongs to.
        path: String,
        /// What it may be.
        expected: String,
        /// What came.
        got: String,
    },
}

impl InputError {
    /// What to do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::NotAnObject { what, .. } => format!("Pass {what} as a plain object."),
            Self::UnknownKey { what, .. } => format!("Remove it from {what}, or correct its name."),
            Self::Missing { path } => format!("Give {path}."),
            Self::Wrong { path, expected, .. } => format!("Give {path} as {expected}, or leave it out."),
        }
    }
}

/// A reader over one options object. Ask for every known name, then call [`Fields::finish`].
#[derive(Debug)]
pub struct Fields<'v> {
    what: String,
    entries: &'v [(String, Value)],
    known: Vec<&'static str>,
    null_is_absent: bool,
}

impl<'v> Fields<'v> {
    /// Reads `value`, which the caller knows as `what` ("policy", "options"). Absent reads as empty.
    pub fn of(value: &'v Value, what: impl Into<String>) -> Result<Self, InputError> {
        let what = what.into();
        let entries: &[_] = match value {
            Value::Absent => &[],
            Value::Record(entries) => entries,
            other => return Err(InputError::NotAnObject { what, got: other.describe() }),
        };
        Ok(Self { what, entries, known: Vec::new(), null_is_absent: false })
    }

    /// Takes `null` as absent, as model-facing tools must: strict schemas send `null` for what is left out.
    #[must_use]
    pub fn null_is_absent(mut self) -> Self {
        self.null_is_absent = true;
        self
    }

    /// The field `name`, present or not. From here on the name is known.
    pub fn field(&mut self, name: &'static str) -> Field<'v> {
        self.known.push(name);
        let value =
            self.entries.iter().find(|(key, _)| key == name).map_or(&Value::Absent, |(_, value)| value);
        let value = if self.null_is_absent && *value == Value::Null { &Value::Absent } else { value };
        Field::argument(format!("{}.{name}", self.what), value)
    }

    /// Refuses any key that was never asked for. An absent value under an unknown name is refused too: it is a
    /// typing error all the same.
    pub fn finish(self) -> Result<(), InputError> {
        match self.entries.iter().find(|(key, _)| !self.known.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => Err(InputError::UnknownKey {
                nearest: nearest(key, self.known.iter().copied()),
                what: self.what,
                key: key.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(entries: &[(&str, Value)]) -> Value {
        Value::Record(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_known_name() {
        let value = record(&[("timeoutMS", Value::Number(1.0))]);
        let mut fields = Fields::of(&value, "options").unwrap();
        fields.field("cwd");
        fields.field("timeoutMs");
        let error = fields.finish().unwrap_err();
        assert_eq!(error.to_string(), r#"options has no option "timeoutMS". Did you mean "timeoutMs"?"#);
    }

    #[test]
    fn an_unlike_key_is_refused_without_a_guess() {
        let value = record(&[("shell", Value::Bool(true))]);
        let mut fields = Fields::of(&value, "options").unwrap();
        fields.field("cwd");
        assert_eq!(fields.finish().unwrap_err().to_string(), r#"options has no option "shell"."#);
    }

    #[test]
    fn null_is_absent_only_where_asked() {
        let value = record(&[("cwd", Value::Null)]);
        assert!(Fields::of(&value, "options").unwrap().field("cwd").text().is_err());
        assert_eq!(Fields::of(&value, "params").unwrap().null_is_absent().field("cwd").text(), Ok(None));
    }
}
