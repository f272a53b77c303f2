//! Reads a tool's input into the struct that its schema is made from.
//!
//! This is a serde deserializer over [`Value`]. It knows the path of what it reads, takes `null` as absent (strict
//! schemas send it for whatever is left out), and refuses through [`Field`] and [`InputError`], so a model reads the
//! same sentences as a host's author. The names that a struct knows come from its derive: an unknown key is refused
//! with the nearest of them.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, IntoDeserializer as _, MapAccess, Unexpected, Visitor,
};

use crate::input::{Field, InputError, Value, nearest};

/// Reads the parameters of a tool.
pub fn read<'v, T: de::Deserialize<'v>>(params: &'v Value) -> Result<T, InputError> {
    let whole = Field::argument("params", params);
    T::deserialize(Given(whole.clone())).map_err(|fault| fault.about(&whole))
}

/// Why reading stopped, until it is known where.
#[derive(Debug)]
struct Fault(Box<Reason>);

#[derive(Debug)]
enum Reason {
    /// What would have been right.
    Expected(String),
    /// A field of the struct being read.
    Missing(&'static str),
    /// A refusal that says where.
    Refused(InputError),
}

impl Fault {
    fn expected(expected: impl fmt::Display) -> Self {
        Self(Box::new(Reason::Expected(expected.to_string())))
    }

    /// As the refusal of `field`.
    fn about(self, field: &Field<'_>) -> InputError {
        match *self.0 {
            Reason::Expected(expected) => field.wrong(expected),
            Reason::Missing(name) => InputError::Missing { path: format!("{}.{name}", field.path()) },
            Reason::Refused(error) => error,
        }
    }
}

impl From<InputError> for Fault {
    fn from(error: InputError) -> Self {
        Self(Box::new(Reason::Refused(error)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::expected(message)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self(Box::new(Reason::Missing(field)))
    }
}

/// One value with its path. Never absent: absent entries are not handed to a struct's reader.
struct Given<'v>(Field<'v>);

impl Given<'_> {
    fn wrong<T>(&self, expected: &dyn Expected) -> Result<T, Fault> {
        Err(self.0.wrong(expected.to_string()).into())
    }
}

impl<'v> Deserializer<'v> for Given<'v> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.value() {
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Number(number) => visitor.visit_f64(*number),
            _ => self.wrong(&visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_bool(self.0.flag()?.unwrap_or_default())
    }

    fn deserialize_str<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.0.text()?.unwrap_or_default())
    }

    fn deserialize_string<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_i64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.any_integer() {
            Ok(Some(integer)) => visitor.visit_i64(integer),
            Ok(None) | Err(_) => self.wrong(&visitor),
        }
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let words: Vec<_> = variants.iter().map(|word| (*word, *word)).collect();
        let word: StrDeserializer<'_, Fault> = self.0.word(&words)?.unwrap_or_default().into_deserializer();
        visitor.visit_enum(word)
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let what = self.0.path();
        let entries: &[_] = match self.0.value() {
            Value::Absent => &[],
            Value::Record(entries) => entries,
            other => {
                return Err(InputError::NotAnObject { what: what.into(), got: other.describe() }.into());
            }
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| !fields.contains(&key.as_str())) {
            let nearest = nearest(key, fields.iter().copied());
            return Err(InputError::UnknownKey { what: what.into(), key: key.clone(), nearest }.into());
        }
        visitor
            .visit_map(Entries { what, rest: entries.iter(), next: None })
            .map_err(|fault| fault.about(&self.0).into())
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'v>>
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// The entries of a record that are there.
struct Entries<'a, 'v> {
    what: &'a str,
    rest: std::slice::Iter<'v, (String, Value)>,
    next: Option<Field<'v>>,
}

impl<'v> MapAccess<'v> for Entries<'_, 'v> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'v>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let there = |(_, value): &&(String, Value)| !matches!(value, Value::Absent | Value::Null);
        let Some((key, value)) = self.rest.find(there) else { return Ok(None) };
        self.next = Some(Field::argument(format!("{}.{key}", self.what), value));
        let key: StrDeserializer<'_, Fault> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'v>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some(field) = self.next.take() else { return Err(Fault::expected("a key before its value")) };
        seed.deserialize(Given(field.clone())).map_err(|fault| fault.about(&field).into())
    }
}
