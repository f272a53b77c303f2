//! Integers of a tool's input: one type says what is taken and what the schema shows.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::limits::MAX_SAFE_INTEGER;

/// An integer that is moved into its range. The schema shows the range, so that a model asks within it; one that asks
/// beyond gets the nearest, which its answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clamped<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Clamped<MIN, MAX> {
    /// `number`, moved into the range.
    pub const fn new(number: u64) -> Self {
        Self(if number < MIN {
            MIN
        } else if number > MAX {
            MAX
        } else {
            number
        })
    }

    /// The integer.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> Serialize for Clamped<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Clamped<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Range<const MIN: u64, const MAX: u64>;
        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Range<MIN, MAX> {
            type Value = Clamped<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match MAX {
                    MAX_SAFE_INTEGER => write!(f, "an integer of at least {MIN}"),
                    _ => write!(f, "an integer from {MIN} to {MAX}"),
                }
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Clamped::new(u64::try_from(number).unwrap_or(0)))
            }
        }
        deserializer.deserialize_i64(Range)
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Clamped<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Clamped".into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Clamped{MIN}to{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        match MAX {
            MAX_SAFE_INTEGER => json_schema!({ "type": "integer", "minimum": MIN }),
            _ => json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX }),
        }
    }
}

/// An integer from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positive(u64);

impl Positive {
    /// The integer.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FromOne;
        impl Visitor<'_> for FromOne {
            type Value = Positive;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a positive integer")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                match u64::try_from(number) {
                    Ok(number) if number > 0 => Ok(Positive(number)),
                    _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                }
            }
        }
        deserializer.deserialize_i64(FromOne)
    }
}

impl JsonSchema for Positive {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Positive".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}
