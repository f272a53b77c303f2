//! `confinement`: what the kernel is to hold a command and its whole tree to. Names and paths as the host wrote them;
//! what they stand for on this machine is the next stage's.

use serde_json::{Map, Value as Json, json};

use super::error::PolicyError;
use super::narrowing::{Ground, beneath, normal};
use crate::input::{Field, InputError, Value};

/// What becomes of a start where the kernel lacks something of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is refused.
    Required,
    /// It goes on, and the status says what was not enforced.
    BestEffort,
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::BestEffort => "best-effort",
        }
    }
}

/// Which files the tree may execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execute {
    /// Those of `allowedExecutables`.
    Allowed,
    /// These: names on the host's PATH, files, and directories with all below them.
    Listed(Vec<String>),
}

/// Which network the tree has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// None.
    None,
    /// The host's.
    Host,
    /// Outgoing TCP to these ports.
    ConnectTcp(Vec<u16>),
}

/// `confinement` as one start gets it. What is `None` is not restricted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// What becomes of a start where the kernel lacks something.
    pub level: Level,
    /// What may be executed.
    pub execute: Option<Execute>,
    /// What may be read, beside the system's own files.
    pub read: Option<Vec<String>>,
    /// What may be written, beside the private temporary directory.
    pub write: Option<Vec<String>>,
    /// The network.
    pub network: Network,
    /// Signals reach the tree only.
    pub own_signals: bool,
    /// The private temporary directory stays.
    pub keep_tmp: bool,
}

/// What `confinement` says, key by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wish {
    level: Option<Level>,
    execute: Option<Execute>,
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
    network: Option<Network>,
    own_signals: bool,
    keep_tmp: Option<bool>,
}

impl Wish {
    /// Reads a preset's name or an object; absent is `None`.
    pub(super) fn read(field: &Field<'_>) -> Result<Option<Self>, InputError> {
        match field.value() {
            Value::Absent => Ok(None),
            Value::Text(name) => match Self::preset(name) {
                Some(wish) => Ok(Some(wish)),
                None => Err(field.wrong(r#""read-only", "workspace", "git" or an object"#)),
            },
            Value::Record(_) => Self::object(field).map(Some),
            _ => Err(field.wrong(r#""read-only", "workspace", "git" or an object"#)),
        }
    }

    fn preset(name: &str) -> Option<Self> {
        let root = || Some(vec![".".to_owned()]);
        let closed = Self {
            level: Some(Level::Required),
            write: Some(Vec::new()),
            network: Some(Network::None),
            own_signals: true,
            ..Self::default()
        };
        Some(match name {
            "read-only" => closed,
            "workspace" => Self { read: root(), write: root(), ..closed },
            "git" => Self { execute: Some(Execute::Listed(vec!["git".into()])), read: root(), ..closed },
            _ => return None,
        })
    }

    fn object(field: &Field<'_>) -> Result<Self, InputError> {
        let mut fields = field.fields()?;
        let wish = Self {
            level: fields
                .field("level")
                .word(&[("required", Level::Required), ("best-effort", Level::BestEffort)])?,
            execute: execute(&fields.field("execute"))?,
            read: paths(&fields.field("read"))?,
            write: paths(&fields.field("write"))?,
            network: network(&fields.field("network"))?,
            own_signals: fields.field("signals").word(&[("own-tree", ())])?.is_some(),
            keep_tmp: fields.field("keepTmp").flag()?,
        };
        fields.finish()?;
        Ok(wish)
    }

    /// A wish that stands alone must say its level.
    pub(super) fn alone(self, field: &Field<'_>) -> Result<Confinement, InputError> {
        let Some(level) = self.level else {
            return Err(InputError::Wrong {
                path: format!("{}.level", field.path()),
                expected: r#""required" or "best-effort""#.into(),
                got: "undefined".into(),
            });
        };
        Ok(Confinement {
            level,
            execute: self.execute,
            read: self.read,
            write: self.write,
            network: self.network.unwrap_or(Network::Host),
            own_signals: self.own_signals,
            keep_tmp: self.keep_tmp.unwrap_or(false),
        })
    }

    /// The same within `base`, which it may only narrow; what it leaves out is as there.
    pub(super) fn within(self, base: &Confinement, ground: &Ground<'_>) -> Result<Confinement, PolicyError> {
        let level = match (base.level, self.level) {
            (Level::Required, Some(Level::BestEffort)) => {
                return Err(wider("level", "\"best-effort\"", "\"required\""));
            }
            (base, asked) => asked.unwrap_or(base),
        };
        let paths = |key, base: &Option<Vec<String>>, asked: Option<Vec<String>>| match (base, asked) {
            (Some(base), Some(asked)) => {
                match asked.iter().find(|path| !base.iter().any(|base| beneath(path, base, ground))) {
                    Some(path) => Err(wider(key, &json!(path).to_string(), &json!(base).to_string())),
                    None => Ok(Some(asked)),
                }
            }
            (base, asked) => Ok(asked.or_else(|| base.clone())),
        };
        Ok(Confinement {
            level,
            execute: narrower_execute(base.execute.as_ref(), self.execute, ground)?,
            read: paths("read", &base.read, self.read)?,
            write: paths("write", &base.write, self.write)?,
            network: narrower_network(&base.network, self.network)?,
            own_signals: base.own_signals || self.own_signals,
            keep_tmp: self.keep_tmp.unwrap_or(base.keep_tmp),
        })
    }
}

fn narrower_execute(
    base: Option<&Execute>,
    asked: Option<Execute>,
    ground: &Ground<'_>,
) -> Result<Option<Execute>, PolicyError> {
    let (Some(base), Some(asked)) = (base, asked.clone()) else { return Ok(asked.or_else(|| base.cloned())) };
    let of = |execute: &Execute| match execute {
        Execute::Allowed => ground.allowed.clone(),
        Execute::Listed(names) => names.clone(),
    };
    let granted = of(base);
    match of(&asked).iter().find(|name| !granted.iter().any(|base| beneath(name, base, ground))) {
        Some(name) => Err(wider("execute", &json!(name).to_string(), &json!(granted).to_string())),
        None => Ok(Some(asked)),
    }
}

fn narrower_network(base: &Network, asked: Option<Network>) -> Result<Network, PolicyError> {
    let Some(asked) = asked else { return Ok(base.clone()) };
    let narrower = match (base, &asked) {
        (Network::Host, _) | (_, Network::None) => true,
        (Network::ConnectTcp(base), Network::ConnectTcp(asked)) => {
            asked.iter().all(|port| base.contains(port))
        }
        (Network::None | Network::ConnectTcp(_), _) => false,
    };
    if narrower {
        Ok(asked)
    } else {
        Err(wider("network", &asked.to_wire().to_string(), &base.to_wire().to_string()))
    }
}

fn wider(key: &'static str, asked: &str, granted: &str) -> PolicyError {
    PolicyError::WiderConfinement { key, asked: asked.into(), granted: granted.into() }
}

fn execute(field: &Field<'_>) -> Result<Option<Execute>, InputError> {
    match field.value() {
        Value::Absent => Ok(None),
        Value::Text(word) if word == "allowed" => Ok(Some(Execute::Allowed)),
        Value::List(_) => {
            let mut names = Vec::new();
            for element in field.elements()?.unwrap_or_default() {
                let name = element.filled_text()?.unwrap_or_default();
                if name.contains('/') && !name.starts_with('/') {
                    return Err(element.wrong("a name on the host's PATH or an absolute path"));
                }
                names.push(path(&element)?);
            }
            Ok(Some(Execute::Listed(names)))
        }
        _ => Err(field.wrong(r#""allowed" or an array of names and absolute paths"#)),
    }
}

fn paths(field: &Field<'_>) -> Result<Option<Vec<String>>, InputError> {
    let Some(elements) = field.elements()? else { return Ok(None) };
    elements.iter().map(path).collect::<Result<Vec<_>, _>>().map(Some)
}

/// A path without `..`: what it names must not depend on which links are there.
fn path(field: &Field<'_>) -> Result<String, InputError> {
    let expected = "a path without \"..\", absolute or from cwdRoot";
    let text = field.filled_text()?.ok_or_else(|| field.wrong(expected))?;
    normal(text).ok_or_else(|| field.wrong(expected))
}

fn network(field: &Field<'_>) -> Result<Option<Network>, InputError> {
    let expected = r#""none", "host" or { connectTcp: [ports] }"#;
    match field.value() {
        Value::Absent => Ok(None),
        Value::Text(word) if word == "none" => Ok(Some(Network::None)),
        Value::Text(word) if word == "host" => Ok(Some(Network::Host)),
        Value::Record(_) => {
            let mut fields = field.fields()?;
            let list = fields.field("connectTcp");
            fields.finish()?;
            let mut ports = Vec::new();
            for element in list.elements()?.ok_or_else(|| list.wrong("an array of ports"))? {
                let port =
                    element.positive_integer().ok().flatten().and_then(|port| u16::try_from(port).ok());
                ports.push(port.ok_or_else(|| element.wrong("a port from 1 to 65535"))?);
            }
            ports.sort_unstable();
            ports.dedup();
            Ok(Some(Network::ConnectTcp(ports)))
        }
        _ => Err(field.wrong(expected)),
    }
}

impl Network {
    /// As a policy has it.
    pub fn to_wire(&self) -> Json {
        match self {
            Self::None => json!("none"),
            Self::Host => json!("host"),
            Self::ConnectTcp(ports) => json!({ "connectTcp": ports }),
        }
    }
}

impl Confinement {
    /// As the policy's getter shows it and its digest has it: presets written out, in one form.
    pub(super) fn to_wire(&self) -> Json {
        let execute = self.execute.as_ref().map(|execute| match execute {
            Execute::Allowed => json!("allowed"),
            Execute::Listed(names) => json!(names),
        });
        let entries = [
            ("level", Some(json!(self.level.name()))),
            ("execute", execute),
            ("read", self.read.as_ref().map(|paths| json!(paths))),
            ("write", self.write.as_ref().map(|paths| json!(paths))),
            ("network", Some(self.network.to_wire())),
            ("signals", self.own_signals.then(|| json!("own-tree"))),
            ("keepTmp", Some(json!(self.keep_tmp))),
        ];
        let present = entries.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Json::Object(present.collect::<Map<_, _>>())
    }
}

#[cfg(test)]
#[path = "confinement_tests.rs"]
mod tests;
