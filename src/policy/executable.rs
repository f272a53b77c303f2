//! `allowedExecutables`: exact names, some with a digest pin.

use super::argv::first_forbidden;
use super::error::PolicyError;
use crate::input::{Field, Value, nearest, quoted_within};
use crate::limits;

/// One entry of `allowedExecutables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedExecutable {
    name: String,
    sha256: Option<[u8; 32]>,
}

impl AllowedExecutable {
    /// The name or path as the policy writes it; argv[0] must equal it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest that the file must have, if it is pinned.
    pub fn sha256(&self) -> Option<&[u8; 32]> {
        self.sha256.as_ref()
    }

    /// The pin in lower-case hexadecimal.
    pub fn sha256_hex(&self) -> Option<String> {
        self.sha256.as_ref().map(|digest| hex(digest))
    }

    fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let wrong = |field: &Field<'_>, expected| PolicyError::BadPolicy(field.wrong(expected));
        let executable = match field.value() {
            Value::Record(_) => {
                let mut fields = field.fields().map_err(PolicyError::BadPolicy)?;
                let (path, sha256) = (fields.field("path"), fields.field("sha256"));
                fields.finish().map_err(PolicyError::BadPolicy)?;
                let name = path.filled_text().map_err(PolicyError::BadPolicy)?;
                let digest = sha256.text().map_err(PolicyError::BadPolicy)?.and_then(unhex);
                match name.filter(|name| name.starts_with('/')) {
                    None => return Err(wrong(&path, "an absolute path, so that the pin is about one file")),
                    Some(name) => Self {
                        name: name.to_owned(),
                        sha256: Some(
                            digest.ok_or_else(|| wrong(&sha256, "a SHA-256 of 64 hexadecimal digits"))?,
                        ),
                    },
                }
            }
            Value::Text(_) => Self {
                name: field.filled_text().map_err(PolicyError::BadPolicy)?.unwrap_or_default().to_owned(),
                sha256: None,
            },
            _ => return Err(wrong(field, "a string or { path, sha256 }")),
        };
        match first_forbidden(&executable.name) {
            None => Ok(executable),
            Some(character) => Err(PolicyError::EntryNeverMatches {
                path: field.path().to_owned(),
                name: executable.name,
                character,
            }),
        }
    }
}

/// An allowed executable with the same file name as a refused one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kin {
    /// A bare name came where a path is allowed.
    BareForPath(String),
    /// A path came where a bare name is allowed.
    PathForBare(String),
    /// Another path came.
    OtherPath(String),
}

impl Kin {
    /// The name as the policy writes it.
    pub fn allowed(&self) -> &str {
        match self {
            Self::BareForPath(name) | Self::PathForBare(name) | Self::OtherPath(name) => name,
        }
    }

    pub(super) fn said(&self) -> String {
        let allowed = quoted_within(self.allowed(), limits::MAX_PATH_SHOWN);
        match self {
            Self::BareForPath(_) => {
                format!(": a basename does not stand in for a path, and the policy allows {allowed}")
            }
            Self::PathForBare(_) => {
                format!(": a path does not stand in for a bare name, and the policy allows {allowed}")
            }
            Self::OtherPath(_) => {
                format!(": a path does not stand in for another, and the policy allows {allowed}")
            }
        }
    }

    fn between(given: &str, allowed: &str) -> Option<Self> {
        let base = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
        if base(given) != base(allowed) || base(given).is_empty() {
            return None;
        }
        let name = allowed.to_owned();
        Some(match (given.contains('/'), allowed.contains('/')) {
            (false, _) => Self::BareForPath(name),
            (true, false) => Self::PathForBare(name),
            (true, true) => Self::OtherPath(name),
        })
    }
}

/// All entries, in the policy's order, none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Executables(Vec<AllowedExecutable>);

impl Executables {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let elements = field
            .elements()
            .map_err(PolicyError::BadPolicy)?
            .filter(|elements| !elements.is_empty())
            .ok_or_else(|| PolicyError::BadPolicy(field.wrong("a non-empty array of executables")))?;
        let mut all: Vec<AllowedExecutable> = Vec::with_capacity(elements.len());
        for element in &elements {
            let executable = AllowedExecutable::read(element)?;
            match all.iter().find(|known| known.name == executable.name) {
                None => all.push(executable),
                Some(known) if *known == executable => {}
                Some(_) => return Err(PolicyError::ExecutablesDisagree { name: executable.name }),
            }
        }
        Ok(Self(all))
    }

    pub(super) fn all(&self) -> &[AllowedExecutable] {
        &self.0
    }

    /// The entry that `name` equals, character for character.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|allowed| allowed.name == name)
    }

    /// The refusal of `name`, with what is allowed instead.
    pub(super) fn refusal(&self, name: &str) -> PolicyError {
        PolicyError::ExecutableNotAllowed {
            executable: name.to_owned(),
            kin: self.0.iter().find_map(|allowed| Kin::between(name, &allowed.name)),
            nearest: nearest(name, self.0.iter().map(AllowedExecutable::name)).map(str::to_owned),
            allowed: self.0.iter().take(limits::MAX_LISTED).map(|allowed| allowed.name.clone()).collect(),
            more: self.0.len().saturating_sub(limits::MAX_LISTED),
        }
    }
}

/// Bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let digits = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<Vec<_>>>()?;
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().fold(0, |high, low| high << 4 | low);
    }
    Some(digest)
}

#[cfg(test)]
#[path = "executable_tests.rs"]
mod tests;
