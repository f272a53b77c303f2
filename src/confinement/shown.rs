//! What a command would be held to, for whoever is asked whether it may start.

use serde::Serialize;
use serde_json::Value as Json;

use super::confined::{Confined, Enforcement};
use super::rules::Place;
use crate::policy::Confinement;

/// A confinement with its names and paths resolved. What is `None` is not restricted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execute: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<Vec<String>>,
    network: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<&'static str>,
    keep_tmp: bool,
    enforced: Enforced,
}

/// What of it this kernel enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Enforced {
    execute: Enforcement,
    read: Enforcement,
    write: Enforcement,
    network: Enforcement,
    signals: Enforcement,
    syscalls: Enforcement,
}

/// The places that a confinement's lists lead to, without what every command gets.
#[derive(Debug)]
pub(super) struct Given<'a> {
    pub(super) execute: &'a [Place],
    pub(super) read: &'a [Place],
    pub(super) write: &'a [Place],
}

impl Shown {
    pub(super) fn of(wanted: &Confinement, given: &Given<'_>, confined: &Confined) -> Self {
        let paths = |asked: bool, places: &[Place]| {
            asked.then(|| places.iter().map(|place| place.path.clone()).collect())
        };
        Self {
            level: wanted.level.name(),
            execute: paths(wanted.execute.is_some(), given.execute),
            read: paths(wanted.read.is_some(), given.read),
            write: paths(wanted.write.is_some(), given.write),
            network: wanted.network.to_wire(),
            signals: wanted.own_signals.then_some("own-tree"),
            keep_tmp: wanted.keep_tmp,
            enforced: Enforced {
                execute: confined.execute,
                read: confined.read,
                write: confined.write,
                network: confined.network,
                signals: confined.signals,
                syscalls: confined.syscalls,
            },
        }
    }
}
