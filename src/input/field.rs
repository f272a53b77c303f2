//! One option's value: its type and range, checked in the same words everywhere.

use super::fields::{Fields, InputError};
use super::value::Value;
use crate::limits;

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
            Value::BrokenText => Err(self.wrong("a string without lone surrogates")),
            _ => Err(self.wrong("a string")),
        }
    }

    /// A string with something in it, without NUL; absent is `None`.
    pub fn filled_text(&self) -> Result<Option<&'v str>, InputError> {
        match self.text()? {
            Some("") => Err(self.wrong("a non-empty string")),
            text => Ok(text),
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

    /// An array's elements, each with its own path; absent is `None`.
    pub fn elements(&self) -> Result<Option<Vec<Field<'v>>>, InputError> {
        let element = |(at, value)| Self::argument(format!("{}[{at}]", self.path), value);
        Ok(self.list()?.map(|items| items.iter().enumerate().map(element).collect()))
    }

    /// An object's own fields; absent reads as empty.
    pub fn fields(&self) -> Result<Fields<'v>, InputError> {
        Fields::of(self.value, self.path.clone())
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

/// The name among `known` most like `given`, if any is like enough to be a typing error.
pub fn nearest<'n>(given: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const LIKE_ENOUGH: f64 = 0.6;
    // The comparison takes time and memory by both lengths: what is far longer than a name is no typing error.
    const LONGEST: usize = 128;
    if given.len() > LONGEST {
        return None;
    }
    let folded = given.to_lowercase();
    known
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (strsim::normalized_damerau_levenshtein(&folded, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_string_that_no_bytes_stand_for_is_refused_as_such() {
        let message = Field::argument("options.cwd", &Value::BrokenText).text().unwrap_err().to_string();
        assert!(message.contains("lone surrogate"), "{message}");
    }

    #[test]
    fn elements_are_named_by_their_index() {
        let value = Value::List(vec![Value::Text("a".into()), Value::Number(1.0)]);
        let elements = Field::argument("policy.list", &value).elements().unwrap().unwrap();
        assert_eq!(elements[0].filled_text(), Ok(Some("a")));
        let message = elements[1].text().unwrap_err().to_string();
        assert_eq!(message, "policy.list[1] must be a string, not the number 1.");
    }
}
