use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::super::params::{
    CommandKill, CommandOutput, CommandSearch, CommandStatus, RetrieveContext, RunCommand,
};
use super::super::reader::read;
use super::super::testing::value;
use super::*;

fn check(tool: CommandTool, params: Json) -> Result<(), String> {
    let params = value(params);
    let checked = match tool {
        CommandTool::Run => read::<RunCommand>(&params).map(drop),
        CommandTool::Status => read::<CommandStatus>(&params).map(drop),
        CommandTool::Output => read::<CommandOutput>(&params).map(drop),
        CommandTool::Kill => read::<CommandKill>(&params).map(drop),
        CommandTool::Search => read::<CommandSearch>(&params).map(drop),
        CommandTool::Retrieve => read::<RetrieveContext>(&params).map(drop),
    };
    checked.map_err(|error| error.to_string())
}

struct Property {
    name: String,
    schema: Json,
    required: bool,
}

fn properties(tool: CommandTool) -> Vec<Property> {
    let schema = tool.definition().input_schema;
    let required: BTreeSet<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let properties = schema["properties"].as_object().unwrap().iter();
    properties
        .map(|(name, schema)| Property {
            name: name.clone(),
            schema: schema.clone(),
            required: required.contains(name.as_str()),
        })
        .collect()
}

/// Values at the edges of what the schema of a property allows.
fn allowed(schema: &Json) -> Vec<Json> {
    match schema["type"].as_str().unwrap() {
        "string" => schema["enum"].as_array().cloned().unwrap_or_else(|| vec![json!("x"), json!("ä b\n")]),
        "boolean" => vec![json!(true), json!(false)],
        "array" => vec![json!(["x"]), json!(["x", "y"])],
        "integer" => {
            let most = schema["maximum"].as_u64().unwrap_or(crate::limits::MAX_SAFE_INTEGER);
            vec![schema["minimum"].clone(), json!(most)]
        }
        other => panic!("no samples of {other}"),
    }
}

/// All required parameters, and `name` as given.
fn params_with(tool: CommandTool, name: &str, item: Json) -> Json {
    let mut params = serde_json::Map::new();
    for property in properties(tool).into_iter().filter(|property| property.required) {
        params.insert(property.name, allowed(&property.schema)[0].clone());
    }
    params.insert(name.to_owned(), item);
    Json::Object(params)
}

#[test]
fn what_the_schema_allows_is_read_and_what_it_forbids_is_refused_by_name() {
    for tool in CommandTool::ALL.iter().copied() {
        for Property { name, schema, required } in properties(tool) {
            let at = format!("{}.{name}", tool.name());
            for sample in allowed(&schema) {
                assert_eq!(check(tool, params_with(tool, &name, sample.clone())), Ok(()), "{at}: {sample}");
            }
            if let Some(default) = schema.get("default") {
                assert_eq!(check(tool, params_with(tool, &name, default.clone())), Ok(()), "{at}");
            }
            let absent = check(tool, params_with(tool, &name, Json::Null));
            if name == "argv" {
                continue; // the policy's to judge, in its own words
            }
            let expected = if required { Err(format!("params.{name} is required.")) } else { Ok(()) };
            assert_eq!(absent, expected, "{at}: null counts as absent");
            let others = [json!("one of no list"), json!(true), json!(1), json!([1]), json!({ "a": 1 })];
            let kind = if schema.get("enum").is_some() { "enum" } else { schema["type"].as_str().unwrap() };
            for other in others {
                let fits = match kind {
                    "string" => other.is_string(),
                    "boolean" => other.is_boolean(),
                    "integer" => other.is_number(),
                    _ => false,
                };
                let checked = check(tool, params_with(tool, &name, other.clone()));
                assert_eq!(checked.is_ok(), fits, "{at}: {other}: {checked:?}");
                if let Err(message) = checked {
                    assert!(message.contains(&format!("params.{name} must be ")), "{message}");
                }
            }
        }
    }
}

#[test]
fn numbers_beyond_a_range_are_moved_into_it_and_fractions_are_refused() {
    let read = |json| read::<CommandStatus>(&value(json)).map(|params| params.wait_ms.get());
    assert_eq!(read(json!({ "taskId": "x", "waitMs": 999_999_999 })), Ok(MAX_MODEL_WAIT_MS));
    assert_eq!(read(json!({ "taskId": "x", "waitMs": -5 })), Ok(0));
    assert_eq!(read(json!({ "taskId": "x" })), Ok(0));
    for bad in [json!(0.5), json!(1e300)] {
        let message = read(json!({ "taskId": "x", "waitMs": bad })).unwrap_err().to_string();
        assert!(message.contains("params.waitMs must be an integer from 0 to 30000"), "{message}");
    }
    for bad in [0, -1] {
        let message = check(CommandTool::Run, json!({ "argv": ["x"], "timeoutMs": bad })).unwrap_err();
        assert!(message.contains("params.timeoutMs must be a positive integer"), "{message}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest() {
    for (tool, key, nearest) in [
        (CommandTool::Run, "timeoutMS", Some("timeoutMs")),
        (CommandTool::Run, "env", None),
        (CommandTool::Run, "maxOutputBytes", None),
        (CommandTool::Run, "label", None),
        (CommandTool::Run, "sessionId", None),
        (CommandTool::Status, "task_id", Some("taskId")),
        (CommandTool::Search, "maxMatch", Some("maxMatches")),
    ] {
        for given in [json!("x"), Json::Null] {
            let message = check(tool, params_with(tool, key, given)).unwrap_err();
            let guess = nearest.map(|name| format!(" Did you mean \"{name}\"?")).unwrap_or_default();
            assert_eq!(message, format!("params has no option \"{key}\".{guess}"));
        }
    }
    for bad in [json!([]), json!("x"), json!(5)] {
        let message = check(CommandTool::Run, bad).unwrap_err();
        assert!(message.starts_with("params must be an object, not"), "{message}");
    }
}

#[test]
fn every_tool_says_what_comes_back_and_that_it_is_live() {
    for tool in CommandTool::ALL.iter().copied() {
        let ToolDefinition { name, description, input_schema, .. } = tool.definition();
        assert_eq!(input_schema["type"], "object", "{name}");
        assert_eq!(input_schema["additionalProperties"], false, "{name}");
        assert!(description.contains("Returns"), "{name}");
        assert!(description.contains("must not be cached"), "{name}");
        assert!(!description.contains("  "), "{name}");
        for Property { name: property, schema, .. } in properties(tool) {
            let text = schema["description"].as_str().unwrap();
            assert!(text.ends_with('.') && !text.contains('\n'), "{name}.{property}: {text}");
        }
    }
}

#[test]
fn retrieve_context_comes_with_any_registration_once() {
    struct NoTools;
    impl ToolFamily for NoTools {
        fn definitions(&self) -> &[ToolDefinition] {
            &[]
        }
        fn execute(&self, call: FamilyCall) -> FamilyFuture {
            panic!("there is no {}", call.name)
        }
    }
    let names = |command, git: bool| -> Vec<&str> {
        let git = git.then(|| Arc::new(NoTools) as Arc<dyn ToolFamily>);
        ToolSet { command, git }.definitions().iter().map(|tool| tool.name).collect()
    };
    let all = ["run_command_bg", "command_status", "command_output", "command_kill", "command_search"];
    let all = [&all[..], &["retrieve_context"]].concat();
    assert_eq!(names(false, false), Vec::<&str>::new());
    assert_eq!(names(true, false), all);
    assert_eq!(names(true, true), all);
    assert_eq!(names(false, true), ["retrieve_context"]);
}

/// The snapshot is for reviewers: whatever changes what a model is told shows up in a diff.
/// `ARGVAULT_UPDATE_SCHEMA=1` rewrites it.
#[test]
fn the_reviewed_snapshot_is_what_a_model_is_told() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/tools.json");
    let set = ToolSet { command: true, git: None };
    let told: Vec<_> = set.definitions().into_iter().chain(super::super::git::all_definitions()).collect();
    let told = serde_json::to_string_pretty(&told).unwrap() + "\n";
    if std::env::var_os("ARGVAULT_UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        std::fs::write(path, &told).unwrap();
    }
    let reviewed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(reviewed == told, "{path} is out of date: look at what ARGVAULT_UPDATE_SCHEMA=1 changes in it");
}
