//! The tools as a model is told of them.

use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value as Json;

use super::params;
use crate::error::Error;
use crate::host::Cancel;
use crate::input::Value;
use crate::limits::MAX_MODEL_WAIT_MS;

/// MCP's hints about what a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "MCP's shape: four independent hints")]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// What it changes may be lost.
    pub destructive_hint: bool,
    /// Doing it twice does no more than once.
    pub idempotent_hint: bool,
    /// It reaches beyond what is known here.
    pub open_world_hint: bool,
}

impl Annotations {
    /// It only looks.
    pub const READS: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const STARTS: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: true };
    const ENDS: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: true, open_world_hint: false };
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// What it is called by.
    pub name: &'static str,
    /// What it does, when to use it, what comes back.
    pub description: String,
    /// JSON Schema of its parameters, in one piece.
    pub input_schema: Json,
    /// Hints.
    pub annotations: Annotations,
}

/// The definition of a tool whose parameters are read into `T`.
pub fn definition<T: JsonSchema>(
    name: &'static str,
    description: impl Into<String>,
    annotations: Annotations,
) -> ToolDefinition {
    let mut settings = SchemaSettings::draft07();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut input_schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut input_schema);
    ToolDefinition { name, description: description.into(), input_schema, annotations }
}

/// Takes out what no model needs: the struct's name, the line breaks of doc comments, and `null`, which a field
/// that may be left out takes too, but which nobody has to write.
fn simplify(schema: &mut Json) {
    let Json::Object(schema) = schema else { return };
    schema.remove("title");
    if let Some(Json::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if let Some(Json::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Json::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
}

/// What a family's tool is called with.
#[derive(Debug, Clone)]
pub struct FamilyCall {
    /// One of its tools.
    pub name: &'static str,
    /// The parameters, unread.
    pub params: Value,
    /// Whose call it is.
    pub session: Option<String>,
    /// Whether the one who called has given up.
    pub cancel: Cancel,
}

/// What it comes to: a result, or a refusal.
pub type FamilyFuture = Pin<Box<dyn Future<Output = Result<Json, Error>> + Send>>;

/// Tools that come together, such as those of one repository.
pub trait ToolFamily: Send + Sync + 'static {
    /// Its tools, in the order in which a model is told of them.
    fn definitions(&self) -> &[ToolDefinition];
    /// Executes one of them.
    fn execute(&self, call: FamilyCall) -> FamilyFuture;
}

/// Which tools are registered.
#[derive(Clone, Default)]
pub struct ToolSet {
    /// Those that run commands.
    pub command: bool,
    /// Those that ask git.
    pub git: Option<Arc<dyn ToolFamily>>,
}

impl ToolSet {
    /// All of them. `retrieve_context` comes with any registration, once.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let own = CommandTool::ALL.iter().filter(|tool| self.has(**tool)).map(|tool| tool.definition());
        own.chain(self.git.iter().flat_map(|git| git.definitions().to_vec())).collect()
    }

    pub(super) fn has(&self, tool: CommandTool) -> bool {
        self.command || (tool == CommandTool::Retrieve && self.git.is_some())
    }
}

/// The tools that this stage has itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandTool {
    Run,
    Status,
    Output,
    Kill,
    Search,
    Retrieve,
}

const COUNTERS: &str = "running and finished count this session's commands: those not over yet, and those over that nobody has \
                        looked at.";
const LIVE: &str = "The result depends on live state and must not be cached.";

impl CommandTool {
    pub(super) const ALL: &'static [Self] =
        &[Self::Run, Self::Status, Self::Output, Self::Kill, Self::Search, Self::Retrieve];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "run_command_bg",
            Self::Status => "command_status",
            Self::Output => "command_output",
            Self::Kill => "command_kill",
            Self::Search => "command_search",
            Self::Retrieve => "retrieve_context",
        }
    }

    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    pub(super) fn definition(self) -> ToolDefinition {
        let name = self.name();
        match self {
            Self::Run => definition::<params::RunCommand>(name, run(), Annotations::STARTS),
            Self::Status => definition::<params::CommandStatus>(name, status(), Annotations::READS),
            Self::Output => definition::<params::CommandOutput>(name, output(), Annotations::READS),
            Self::Kill => definition::<params::CommandKill>(name, kill(), Annotations::ENDS),
            Self::Search => definition::<params::CommandSearch>(name, search(), Annotations::READS),
            Self::Retrieve => definition::<params::RetrieveContext>(name, retrieve(), Annotations::READS),
        }
    }
}

fn run() -> String {
    format!(
        "Starts a program in the background and returns at once, before it has finished. Use it for builds, tests, \
         linters and any other command of the project. There is no shell: argv is one program and its arguments. \
         Returns {{ taskId, argv, startedAt, timeoutMs, running, finished }}; timeoutMs is the time budget that holds. \
         Then call command_status with waitMs to wait for the end, command_output or command_search to read what it \
         wrote, and command_kill to end it early. Its output is banked in full and never truncated away, so don't cut \
         it down with other programs. Every call starts another process: don't repeat one to see its result. A \
         refusal is {{ isError: true, error, code }} and says what to do instead; with code ERR_APPROVAL_PENDING a \
         person has not decided yet, and the same call made again goes on waiting. {COUNTERS} {LIVE}"
    )
}

fn status() -> String {
    format!(
        "Tells how a command stands: state is queued, running, exited, killed, timeout, or output-limit when it wrote \
         more than the host keeps and was ended for that. With waitMs it first waits for the end, at most {MAX_MODEL_WAIT_MS} ms; if the command still runs then, call it again. \
         Returns the status with exitCode or signal once it is over (a non-zero exitCode is a result, not a failure \
         of this tool), cause and error saying why it ended, sizes of stdout and stderr, and tailPreview, the end of \
         both. The preview is short; everything before it is banked in full: read it with command_output, or find \
         what matters with command_search. {COUNTERS} {LIVE}"
    )
}

fn output() -> String {
    format!(
        "Reads a page of what a command wrote to stdout or stderr, while it runs or any time later. Output is never \
         truncated away: it is banked in full, and any part of it can be read. Returns {{ taskId, stream, content, \
         offset, limit, nextOffset, totalSize, hasMore, running, finished }}. While hasMore is true, call again with \
         offset = nextOffset; of a running command, nextOffset is also where later output will begin. To find \
         something in long output, command_search is quicker than reading all pages. {COUNTERS} {LIVE}"
    )
}

fn kill() -> String {
    format!(
        "Ends a command with all processes it started, politely first (SIGTERM), then by force. Use it when a command \
         hangs or its result is no longer needed. Returns the status once everything has ended, or after \
         {MAX_MODEL_WAIT_MS} ms as it stands. A command that is over already is left as it was. What it wrote stays \
         banked in full, for command_output and command_search. {COUNTERS} {LIVE}"
    )
}

fn search() -> String {
    format!(
        "Finds lines in what a command wrote, while it runs or any time later. Use it on long output instead of \
         reading all pages, for example to find errors or failed tests. Returns {{ matches: [{{ line, offset, text, \
         before, after }}], truncated, running, finished }}; line counts from 1, and offset is where command_output \
         reads on from that line. truncated means that there are more matches: use a narrower pattern or a larger \
         maxMatches; the output itself is banked in full. {COUNTERS} {LIVE}"
    )
}

fn retrieve() -> String {
    format!(
        "Reads a page of a banked artifact: the output of a command or of another tool, kept in full when only a \
         preview was shown. Use it when a result has an artifactId or a readBackHint. Returns {{ artifactId, content, \
         offset, limit, nextOffset, totalSize, hasMore }}. While hasMore is true, call again with offset = nextOffset. \
         {LIVE}"
    )
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
