//! The git tools as a model is told of them. The git stage reads the parameters itself; these structs are their
//! schemas, and a test holds the two together.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::catalog::{Annotations, FamilyCall, FamilyFuture, ToolDefinition, ToolFamily, definition};
use super::dispatch::Tools;
use super::number::Clamped;
use crate::error::Error;
use crate::git::{EXTRA_TOOLS, Extra};
use crate::host::CommandHost;
use crate::host::git::Asking;
use crate::input::Value;
use crate::limits;

type Count = Clamped<1, { limits::GIT_MAX_COUNT }>;
type Unified = Clamped<0, { limits::GIT_MAX_UNIFIED }>;
type Line = Clamped<1, { limits::GIT_MAX_LINE }>;

impl Tools {
    /// Registers the repository of `options`, and the tools that ask it.
    pub fn register_repository(&self, options: &Value, env: &Value) -> Result<(), Error> {
        let toolbox = self.host.register_git(options, env)?;
        let definitions = definitions(&toolbox.options().extra);
        self.register_git(Arc::new(GitTools { host: Arc::clone(&self.host), definitions }));
        Ok(())
    }
}

/// The tools of one repository.
struct GitTools {
    host: Arc<CommandHost>,
    definitions: Vec<ToolDefinition>,
}

fn definitions(extra: &[Extra]) -> Vec<ToolDefinition> {
    let log = if extra.contains(&Extra::Log) { extended_log() } else { log() };
    let six = [log, show(), diff(), blame(), merge_base(), ls_files()];
    let more = EXTRA_TOOLS.iter().filter(|(_, tool)| extra.contains(tool));
    six.into_iter().chain(more.map(|(name, tool)| extra_tool(name, *tool))).collect()
}

impl ToolFamily for GitTools {
    fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    fn execute(&self, call: FamilyCall) -> FamilyFuture {
        let host = Arc::clone(&self.host);
        Box::pin(async move {
            let FamilyCall { name, params, session, cancel } = call;
            let asking = Asking { tool: name.to_owned(), session_id: session, shows_stderr: false };
            super::dispatch::encode(&host.ask_git(&params, asking, cancel).await?)
        })
    }
}

/// What every answer is.
const ANSWER: &str = "Returns { command, ok, exitCode, state, preview, output, readBackHint }: preview is the head of the answer, and \
     output.artifactId keeps all of it: read on with retrieve_context as readBackHint says. ok: false with an exitCode \
     is git's own answer. Give plain values, never options. The result depends on live state and must not be cached.";

fn tool<T: JsonSchema>(name: &'static str, what: &str) -> ToolDefinition {
    definition::<T>(name, format!("{what} {ANSWER}"), Annotations::READS)
}

fn log() -> ToolDefinition {
    tool::<LogParams>("git_log", LOG)
}

fn extended_log() -> ToolDefinition {
    tool::<ExtendedLogParams>("git_log", LOG)
}

const LOG: &str = "Lists commits of this repository, newest first. Use it to see what changed and when, and to find commit ids for \
     git_show, git_diff and git_blame.";

fn show() -> ToolDefinition {
    tool::<ShowParams>(
        "git_show",
        "Shows one commit with its message and changes, or with ref `commit:path` a file as it was in that commit.",
    )
}

fn diff() -> ToolDefinition {
    tool::<DiffParams>(
        "git_diff",
        "Shows changes: of the working tree since the last commit, since base, or between base and head.",
    )
}

fn blame() -> ToolDefinition {
    tool::<BlameParams>(
        "git_blame",
        "Tells for each line of a file which commit last changed it, when and by whom.",
    )
}

fn merge_base() -> ToolDefinition {
    tool::<MergeBaseParams>(
        "git_merge_base",
        "Finds the best common ancestor of two commits. exitCode 1 with an empty answer means that there is none.",
    )
}

fn ls_files() -> ToolDefinition {
    tool::<LsFilesParams>("git_ls_files", "Lists the files that git tracks.")
}

fn extra_tool(name: &'static str, extra: Extra) -> ToolDefinition {
    match extra {
        Extra::Status => {
            tool::<StatusParams>(name, "Lists files that differ from the last commit, and untracked ones.")
        }
        Extra::Grep => tool::<GrepParams>(name, "Finds lines in the tracked files of a commit."),
        Extra::Branches => tool::<BranchesParams>(name, "Lists branches or tags with the commits they name."),
        Extra::File => tool::<FileParams>(name, "Shows a file as it is in a commit."),
        Extra::Log => extended_log(),
    }
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct LogParams {
    /// A branch, a tag, a commit id, one of these with ~n or ^, or a range `a..b`. Default: HEAD.
    r#ref: Option<String>,
    /// Only commits that touched this path, relative to the repository's root.
    path: Option<String>,
    /// How many commits at most.
    max_count: Option<Count>,
    /// Only commits since an ISO date (`2026-01-31`) or an age (`2 weeks ago`).
    since: Option<String>,
    /// How much of each commit.
    #[schemars(extend("default" = "oneline"))]
    format: Option<LogFormat>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct ExtendedLogParams {
    #[schemars(flatten)]
    log: LogParams,
    /// Only commits whose author's name or address contains this text.
    author: Option<String>,
    /// Only commits that added or removed this text.
    pickaxe: Option<String>,
    /// With path, a file: go on beyond its renames.
    follow: Option<bool>,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
enum LogFormat {
    Oneline,
    Full,
    Stat,
    NameOnly,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct ShowParams {
    /// A branch, a tag, a commit id, one of these with ~n or ^, or `commit:path` for a file in it.
    r#ref: String,
    /// Only the changes of this path.
    path: Option<String>,
    /// Only the names of the changed files.
    name_only: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct DiffParams {
    /// The commit to compare from. Default: the index.
    base: Option<String>,
    /// The commit to compare to; it needs base. Default: the working tree.
    head: Option<String>,
    /// Only this path.
    path: Option<String>,
    /// Only the names of the changed files.
    name_only: Option<bool>,
    /// Only a summary with counts of lines.
    stat: Option<bool>,
    /// Lines of context around each change.
    unified: Option<Unified>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct BlameParams {
    /// The file, relative to the repository's root.
    path: String,
    /// The commit to look from. Default: HEAD.
    r#ref: Option<String>,
    /// The first line.
    line_start: Option<Line>,
    /// The last line; alone, the 100 lines up to it.
    line_end: Option<Line>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct MergeBaseParams {
    /// One commit.
    base: String,
    /// The other.
    head: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct LsFilesParams {
    /// Only files below this path.
    path: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct StatusParams {
    /// Only files below this path.
    path: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct GrepParams {
    /// What to look for: a regular expression, or plain text with literal.
    pattern: String,
    /// The commit whose files are searched. Default: HEAD.
    r#ref: Option<String>,
    /// Only files below this path.
    path: Option<String>,
    /// Match upper and lower case alike.
    ignore_case: Option<bool>,
    /// Take the pattern as plain text.
    literal: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct BranchesParams {
    /// Which to list.
    kind: Option<BranchKind>,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
enum BranchKind {
    Local,
    Remote,
    Tags,
    All,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a schema: the git stage reads the values")]
struct FileParams {
    /// The commit.
    r#ref: String,
    /// The file, relative to the repository's root.
    path: String,
}

/// All git tools, for the snapshot of the catalog.
#[cfg(test)]
pub(super) fn all_definitions() -> Vec<ToolDefinition> {
    let six = [extended_log(), show(), diff(), blame(), merge_base(), ls_files()];
    six.into_iter().chain(EXTRA_TOOLS.iter().map(|(name, extra)| extra_tool(name, *extra))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::GitRequest;
    use crate::input::Value;

    const ALL: &[Extra] = &[Extra::Status, Extra::Grep, Extra::Branches, Extra::File, Extra::Log];

    fn refusal(name: &str, entries: Vec<(String, Value)>) -> String {
        GitRequest::parse(name, &Value::Record(entries), ALL)
            .map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn every_parameter_of_a_schema_is_read_and_every_other_is_refused() {
        for tool in all_definitions() {
            let properties = tool.input_schema["properties"].as_object().unwrap();
            let required = tool.input_schema["required"].as_array().cloned().unwrap_or_default();
            for key in properties.keys() {
                let text = refusal(tool.name, vec![(key.clone(), Value::Function)]);
                assert!(!text.is_empty() && !text.contains("has no"), "{}.{key}: {text}", tool.name);
            }
            // With all that it needs, so that only the unknown name can be what is refused.
            let mut given: Vec<_> = required
                .iter()
                .map(|key| (key.as_str().unwrap().to_owned(), Value::Text("x".into())))
                .collect();
            assert_eq!(refusal(tool.name, given.clone()), "", "{}", tool.name);
            given.push(("nonsense".into(), Value::Bool(true)));
            assert!(refusal(tool.name, given).contains("nonsense"), "{}", tool.name);
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        }
    }

    #[test]
    fn every_word_of_an_enumeration_is_taken() {
        for tool in all_definitions() {
            for (key, schema) in tool.input_schema["properties"].as_object().unwrap() {
                for word in schema["enum"].as_array().into_iter().flatten().filter_map(|word| word.as_str()) {
                    let text = refusal(tool.name, vec![(key.clone(), Value::Text(word.into()))]);
                    assert!(!text.contains(key.as_str()), "{}.{key} = {word}: {text}", tool.name);
                }
            }
        }
    }
}
