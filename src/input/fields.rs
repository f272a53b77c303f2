//! Reading an options object: every name asked for is known, every other one is refused with the nearest.

use super::value::{Value, quoted};
use crate::limits;

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
        Field { path: format!("{}.{name}", self.what), value }
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

/// The name among `known` most like `given`, if any is like enough to be a typing error.
pub fn nearest<'n>(given: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const LIKE_ENOUGH: f64 = 0.6;
    let folded = given.to_lowercase();
    known
        .map(|name| (strsim::normalized_damerau_levenshtein(&folded, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// One value with the path that names it in messages.
#[derive(Debug, Clone)]
pub struct Field<'v> {
    path: String,
    value: &'v Value,
}

impl<'v> Field<'v> {
    /// A value that is no field of an object, such as an argument.
    pub fn argument(path: impl Into<String>, value: &'v Value) -> Self {
        Self { path: path.into(), value }
    }

    /// The value as it came.
    pub fn value(&self) -> &'v Value {
        self.value
    }

    /// The option's name as messages show it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The refusal of this value.
    pub fn wrong(&self, expected: impl Into<String>) -> InputError {
        InputError::Wrong { path: self.path.clone(), expected: expected.into(), got: self.value.describe() }
    }

    /// A string without NUL; absent is `None`.
    pub fn text(&self) -> Result<Option<&'v str>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::Text(text) if text.contains('\0') => Err(self.wrong("a string without NUL")),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(self.wrong("a string")),
        }
    }

    /// A boolean; absent is `None`.
    pub fn flag(&self) -> Result<Option<bool>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::Bool(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong("a boolean")),
        }
    }

    /// A function's presence.
    pub fn function(&self) -> Result<bool, InputError> {
        match self.value {
            Value::Absent => Ok(false),
            Value::Function => Ok(true),
            _ => Err(self.wrong("a function")),
        }
    }

    /// An array; absent is `None`.
    pub fn list(&self) -> Result<Option<&'v [Value]>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::List(items) => Ok(Some(items)),
            _ => Err(self.wrong("an array")),
        }
    }

    /// An integer from 1 to 2^53 - 1; absent is `None`.
    pub fn positive_integer(&self) -> Result<Option<u64>, InputError> {
        self.integer_from(1, "a positive integer")
    }

    /// An integer from 0 to 2^53 - 1; absent is `None`.
    pub fn unsigned_integer(&self) -> Result<Option<u64>, InputError> {
        self.integer_from(0, "a non-negative integer")
    }

    /// Any integer within ±(2^53 - 1), for offsets that are clamped; absent is `None`.
    pub fn any_integer(&self) -> Result<Option<i64>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::Number(number) => match safe_integer(*number) {
                Some(integer) => Ok(Some(integer)),
                None => Err(self.wrong("an integer within 2^53")),
            },
            _ => Err(self.wrong("an integer")),
        }
    }

    fn integer_from(&self, least: u64, expected: &str) -> Result<Option<u64>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::Number(number) => match safe_integer(*number).and_then(|n| u64::try_from(n).ok()) {
                Some(integer) if integer >= least => Ok(Some(integer)),
                _ => Err(self.wrong(format!("{expected} of at most 2^53 - 1"))),
            },
            _ => Err(self.wrong(expected)),
        }
    }

    /// One of the given words; absent is `None`.
    pub fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<Option<T>, InputError> {
        match self.value {
            Value::Absent => Ok(None),
            Value::Text(text) if words.iter().any(|(word, _)| word == text) => {
                Ok(words.iter().find(|(word, _)| word == text).map(|(_, value)| *value))
            }
            _ => {
                let list: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                Err(self.wrong(list.join(" or ")))
            }
        }
    }
}

/// `number` as an integer, if it is one that JavaScript holds exactly.
fn safe_integer(number: f64) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in an f64")]
    let ceiling = limits::MAX_SAFE_INTEGER as f64;
    if number.fract() != 0.0 || number.abs() > ceiling {
        return None; // NaN and the infinities have a NaN fraction or exceed the ceiling
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above: integral and within 2^53")]
    Some(number as i64)
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
    fn numbers_are_integers_in_range_or_refused_by_name() {
        let good = [1.0, 2_147_483_648.0, 9_007_199_254_740_991.0];
        let bad = [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9_007_199_254_740_992.0];
        for number in good {
            let value = Value::Number(number);
            assert!(Field::argument("n", &value).positive_integer().unwrap().is_some(), "{number}");
        }
        for number in bad {
            let value = Value::Number(number);
            let message = Field::argument("n", &value).positive_integer().unwrap_err().to_string();
            assert!(message.contains("positive integer"), "{number}: {message}");
        }
        let text = Value::Text("5".into());
        assert!(Field::argument("n", &text).positive_integer().is_err(), "a numeric string is no number");
    }

    #[test]
    fn null_is_absent_only_where_asked() {
        let value = record(&[("cwd", Value::Null)]);
        assert!(Fields::of(&value, "options").unwrap().field("cwd").text().is_err());
        assert_eq!(Fields::of(&value, "params").unwrap().null_is_absent().field("cwd").text(), Ok(None));
    }
}
