//! The environment of a start: given whole, or inherited as the policy says; the two are never merged.

use super::error::PolicyError;
use crate::input::{Field, InputError, Value, quoted};
use crate::limits;

/// What `inheritEnv: "minimal"` passes on, beside every `LC_*`.
const MINIMAL: &[&str] = &["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "TERM"];

/// What a start without `env` gets of the host's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InheritEnv {
    /// All of it.
    All,
    /// [`MINIMAL`] and `LC_*`.
    Minimal,
    /// These names.
    Names(Vec<String>),
}

impl InheritEnv {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, InputError> {
        const EXPECTED: &str = "\"all\", \"minimal\" or an array of variable names";
        match field.value() {
            Value::Absent => Ok(Self::All),
            Value::Text(word) if word == "all" => Ok(Self::All),
            Value::Text(word) if word == "minimal" => Ok(Self::Minimal),
            Value::List(_) => {
                let mut names: Vec<String> = Vec::new();
                for element in field.elements()?.unwrap_or_default() {
                    match element.filled_text()? {
                        Some(name) if name.contains(['=', '*']) => {
                            return Err(element.wrong("the exact name of a variable, without \"=\" or \"*\""));
                        }
                        Some(name) if names.iter().any(|known| known == name) => {}
                        Some(name) => names.push(name.to_owned()),
                        None => return Err(element.wrong("a string")),
                    }
                }
                Ok(Self::Names(names))
            }
            _ => Err(field.wrong(EXPECTED)),
        }
    }

    fn passes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Minimal => MINIMAL.contains(&name) || name.starts_with("LC_"),
            Self::Names(names) => names.iter().any(|known| known == name),
        }
    }

    pub(super) fn to_wire(&self) -> serde_json::Value {
        match self {
            Self::All => "all".into(),
            Self::Minimal => "minimal".into(),
            Self::Names(names) => names.clone().into(),
        }
    }
}

/// Where a variable came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvSource {
    /// The start's own `env`.
    Option,
    /// The host's environment.
    Host,
}

impl EnvSource {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Option => "options.env",
            Self::Host => "process.env",
        }
    }

    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::Option => "Correct it in options.env, or leave it out (undefined does).",
            Self::Host => {
                "Remove it from the host's environment, give options.env, or name what is inherited with inheritEnv \
                 in setBackgroundCommandPolicy."
            }
        }
    }
}

/// Why a variable can't be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvFault {
    /// The name is empty.
    EmptyName,
    /// The name holds a "=".
    EqualsInName,
    /// The name holds a NUL.
    NulInName,
    /// The value holds a NUL.
    NulInValue,
    /// The value is no string.
    NotAString(String),
    /// No bytes stand for the value.
    LoneSurrogate,
}

impl EnvFault {
    pub(super) fn said(&self, name: &str, from: EnvSource) -> String {
        let (name, from) = (quoted(name), from.name());
        match self {
            Self::EmptyName => format!("A variable of {from} has an empty name."),
            Self::EqualsInName => {
                format!("The name {name} in {from} contains \"=\", which ends a variable's name.")
            }
            Self::NulInName => format!("The name {name} in {from} contains a NUL character."),
            Self::NulInValue => format!("The value of {name} in {from} contains a NUL character."),
            Self::NotAString(got) => format!("The value of {name} in {from} must be a string, not {got}."),
            Self::LoneSurrogate => {
                format!(
                    "The value of {name} in {from} is a string with a lone surrogate: no bytes stand for it."
                )
            }
        }
    }
}

/// What the program gets, each name once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Environment<'v> {
    variables: Vec<(&'v str, &'v str)>,
}

impl<'v> Environment<'v> {
    /// `own` if it is given, else what `inherit` lets through of `host`.
    pub(super) fn resolve(
        own: &'v Value,
        inherit: &InheritEnv,
        host: &'v Value,
    ) -> Result<Self, PolicyError> {
        match own {
            Value::Absent => Self::read(host, EnvSource::Host, |name| inherit.passes(name)),
            own => Self::read(own, EnvSource::Option, |_| true),
        }
    }

    fn read(value: &'v Value, from: EnvSource, passes: impl Fn(&str) -> bool) -> Result<Self, PolicyError> {
        let entries: &[_] = match value {
            Value::Absent => &[],
            Value::Record(entries) => entries,
            other => return Err(PolicyError::EnvNotAnObject { from, got: other.describe() }),
        };
        let mut variables = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            if *value != Value::Absent && passes(name) {
                variables.push((name.as_str(), checked(name, value, from)?));
            }
        }
        keep_last(&mut variables);
        Ok(Self { variables })
    }

    pub(super) fn variables(&self) -> &[(&'v str, &'v str)] {
        &self.variables
    }

    /// As `execve` takes them.
    pub(super) fn to_entries(&self) -> Vec<String> {
        self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|(known, _)| *known == name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.variables.iter().map(|&(name, _)| name.to_owned()).collect()
    }
}

fn checked<'v>(name: &str, value: &'v Value, from: EnvSource) -> Result<&'v str, PolicyError> {
    let refuse = |fault| Err(PolicyError::EnvEntry { name: name.to_owned(), from, fault });
    match value {
        _ if name.is_empty() => refuse(EnvFault::EmptyName),
        _ if name.contains('=') => refuse(EnvFault::EqualsInName),
        _ if name.contains('\0') => refuse(EnvFault::NulInName),
        Value::Text(text) if text.contains('\0') => refuse(EnvFault::NulInValue),
        Value::Text(text) => {
            let bytes = name.len() + 1 + text.len() + 1;
            if bytes > limits::MAX_ARG_STRLEN {
                let (name, limit) = (name.to_owned(), limits::MAX_ARG_STRLEN);
                return Err(PolicyError::EnvEntryTooLong { name, from, bytes, limit });
            }
            Ok(text)
        }
        Value::BrokenText => refuse(EnvFault::LoneSurrogate),
        other => refuse(EnvFault::NotAString(other.describe())),
    }
}

/// A record from JavaScript has each key once; a program that gets a name twice may read either.
fn keep_last(variables: &mut Vec<(&str, &str)>) {
    let mut seen = std::collections::HashSet::with_capacity(variables.len());
    variables.reverse();
    variables.retain(|(name, _)| seen.insert(*name));
    variables.reverse();
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
