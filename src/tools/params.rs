//! What each tool takes. A field's doc comment is what a model reads about it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::{Deserialize as Read, Serialize};

use super::number::{Clamped, Positive};
use crate::limits;
use crate::vault::id::Stream;

/// Milliseconds that a model's call may wait.
type Wait = Clamped<0, { limits::MAX_MODEL_WAIT_MS }>;
type Offset = Clamped<0, { limits::MAX_SAFE_INTEGER }>;
type PageUnits = Clamped<1, { limits::MAX_PAGE_UNITS }>;
type Context = Clamped<0, { limits::MAX_SEARCH_CONTEXT }>;
type Matches = Clamped<1, { limits::MAX_SEARCH_MATCHES }>;

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RunCommand {
    /// The program and its arguments, one string each, for example `["npm", "test"]`. There is no shell: no pipes, globs,
    /// quotes, redirections, variables or &&. Run several commands as several calls.
    #[serde(rename = "argv")]
    pub(super) _argv: Argv,
    /// The directory to run in, relative to the project root or absolute inside it. Default: the project root.
    pub(super) cwd: Option<String>,
    /// Time budget in milliseconds; when it is used up, the command and all its processes are ended. It can only
    /// shorten the host's own budget: a larger value is lowered to that, and the result says what holds.
    pub(super) timeout_ms: Option<Positive>,
}

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CommandStatus {
    /// The `taskId` that `run_command_bg` returned.
    pub(super) task_id: String,
    /// How long to wait for the command to end, in milliseconds, before answering as it stands. A larger value is
    /// lowered to the maximum; call again to go on waiting.
    #[serde(default = "no_wait")]
    pub(super) wait_ms: Wait,
}

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CommandOutput {
    /// The `taskId` that `run_command_bg` returned.
    pub(super) task_id: String,
    /// Which stream to read.
    #[serde(default)]
    pub(super) stream: StreamName,
    /// Where to begin, in characters: 0, the nextOffset of the page before, or the offset of a match.
    #[serde(default = "from_the_start")]
    pub(super) offset: Offset,
    /// How many characters to return at most.
    #[serde(default = "one_page")]
    pub(super) limit: PageUnits,
}

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CommandKill {
    /// The `taskId` that `run_command_bg` returned.
    pub(super) task_id: String,
}

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CommandSearch {
    /// The `taskId` that `run_command_bg` returned.
    pub(super) task_id: String,
    /// What to look for, line by line: a regular expression (no look-around, no backreferences), or plain text with
    /// literal.
    pub(super) pattern: String,
    /// Take the pattern as plain text.
    #[serde(default)]
    pub(super) literal: bool,
    /// Match upper and lower case alike.
    #[serde(default)]
    pub(super) ignore_case: bool,
    /// Which stream to search.
    #[serde(default)]
    pub(super) stream: StreamName,
    /// Lines to show before each match.
    #[serde(default = "no_context")]
    pub(super) before: Context,
    /// Lines to show after each match.
    #[serde(default = "no_context")]
    pub(super) after: Context,
    /// How many matching lines to return at most.
    #[serde(default = "some_matches")]
    pub(super) max_matches: Matches,
}

#[derive(Debug, Read, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RetrieveContext {
    /// The artifactId from a status, a result or a readBackHint.
    pub(super) artifact_id: String,
    /// Where to begin, in characters: 0, or the nextOffset of the page before.
    #[serde(default = "from_the_start")]
    pub(super) offset: Offset,
    /// How many characters to return at most.
    #[serde(default = "one_page")]
    pub(super) limit: PageUnits,
}

const fn no_wait() -> Wait {
    Wait::new(0)
}

const fn from_the_start() -> Offset {
    Offset::new(0)
}

const fn one_page() -> PageUnits {
    PageUnits::new(limits::DEFAULT_PAGE_UNITS)
}

const fn no_context() -> Context {
    Context::new(0)
}

const fn some_matches() -> Matches {
    Matches::new(limits::DEFAULT_SEARCH_MATCHES)
}

#[derive(Debug, Clone, Copy, Default, Read, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum StreamName {
    #[default]
    Stdout,
    Stderr,
}

impl From<StreamName> for Stream {
    fn from(name: StreamName) -> Self {
        match name {
            StreamName::Stdout => Self::Stdout,
            StreamName::Stderr => Self::Stderr,
        }
    }
}

/// Stands in the schema for the argv, and takes whatever comes: the policy owns the rules of an argv and their words,
/// so it is handed on as it was given.
#[derive(Debug)]
pub(super) struct Argv;

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;
        impl<'de> Visitor<'de> for Anything {
            type Value = Argv;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of strings")
            }

            fn visit_none<E>(self) -> Result<Argv, E> {
                Ok(Argv)
            }

            fn visit_some<D: Deserializer<'de>>(self, _: D) -> Result<Argv, D::Error> {
                Ok(Argv)
            }
        }
        // As an option, so that a missing argv gets here too.
        deserializer.deserialize_option(Anything)
    }
}

impl JsonSchema for Argv {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Argv".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }
}
