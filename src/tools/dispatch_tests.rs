use serde_json::json;

use super::super::outcome::{Answer, Decided};
use super::super::testing::{host, value};
use super::*;

struct Place {
    _dir: tempfile::TempDir,
    tools: Tools,
}

fn place(options: Json) -> Place {
    let dir = tempfile::tempdir().unwrap();
    let host = host(&dir.path().join("vault"), options);
    let tools = Tools::patient_for(host, Duration::from_millis(20));
    tools.register_commands();
    Place { _dir: dir, tools }
}

fn policy(tools: &Tools, extra: &[(&str, Value)]) {
    let base = json!({ "allowedExecutables": ["/bin/true"], "cwdRoot": "/" });
    let Value::Record(mut entries) = value(base) else { panic!("no object") };
    entries.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    tools.host.set_policy(&Value::Record(entries), &Value::Absent).unwrap();
}

fn approving(tools: &Tools) {
    policy(tools, &[("allowedCommands", Value::List(Vec::new())), ("approve", Value::Function)]);
}

async fn execute(tools: &Tools, name: &str, params: Json, context: Json, cancel: Cancel) -> Json {
    let call = tools.call(Value::Text(name.into()), value(params), &value(context), Value::Absent, cancel);
    serde_json::to_value(tools.execute(call).await).unwrap()
}

async fn run(tools: &Tools, params: Json) -> Json {
    execute(tools, "run_command_bg", params, json!({}), Cancel::never()).await
}

fn assert_refused(answer: &Json, code: &str, word: &str) {
    let result = &answer["result"];
    assert_eq!((&result["isError"], &result["code"]), (&json!(true), &json!(code)), "{answer}");
    assert!(result["error"].as_str().unwrap().contains(word), "{word}: {result}");
    assert_eq!(result.as_object().unwrap().len(), 3, "{result}");
}

#[tokio::test]
async fn each_refusal_is_a_value() {
    let Place { tools, .. } = &place(json!({}));
    assert_refused(&run(tools, json!({ "argv": ["/bin/true"] })).await, "ERR_NO_POLICY", "set");
    policy(tools, &[]);
    let task = "0".repeat(26);
    let cases = [
        ("run_command_bg", json!({}), "ERR_BAD_ARGV", "argv must be an array of strings"),
        ("run_command_bg", json!({ "argv": null }), "ERR_BAD_ARGV", "argv"),
        ("run_command_bg", json!({ "argv": "git log" }), "ERR_BAD_ARGV", "argv"),
        ("run_command_bg", json!({ "argv": ["/bin/true", 1] }), "ERR_BAD_ARGV", "argv[1]"),
        ("run_command_bg", json!({ "argv": ["rm"] }), "ERR_EXECUTABLE_NOT_ALLOWED", "Executable \"rm\""),
        (
            "run_command_bg",
            json!({ "argv": ["/bin/true"], "cwd": "no/such" }),
            "ERR_CWD_NOT_FOUND",
            "no/such",
        ),
        ("run_command_bg", json!({ "argv": ["/bin/true"], "env": {} }), "ERR_BAD_OPTION", "\"env\""),
        ("command_status", json!({ "taskId": task }), "ERR_UNKNOWN_TASK", "No background command"),
        ("command_status", json!({ "taskId": "../x" }), "ERR_UNKNOWN_TASK", "No background command"),
        ("command_output", json!({ "taskId": task }), "ERR_UNKNOWN_TASK", "No background command"),
        ("command_kill", json!({ "taskId": task }), "ERR_UNKNOWN_TASK", "No background command"),
        ("command_search", json!({ "taskId": task, "pattern": "x" }), "ERR_UNKNOWN_TASK", "No background"),
        ("command_search", json!({ "taskId": task }), "ERR_BAD_OPTION", "params.pattern is required"),
        ("retrieve_context", json!({ "artifactId": "../etc" }), "ERR_UNKNOWN_ARTIFACT", "No artifact"),
        (
            "retrieve_context",
            json!({ "artifactId": format!("{task}-stdout") }),
            "ERR_UNKNOWN_ARTIFACT",
            "No artifact",
        ),
        ("command_stat", json!({}), "ERR_UNKNOWN_TOOL", "Did you mean \"command_status\"?"),
        ("git_log", json!({}), "ERR_UNKNOWN_TOOL", "registerGitTools"),
    ];
    for (name, params, code, word) in cases {
        let answer = execute(tools, name, params, json!({}), Cancel::never()).await;
        assert_refused(&answer, code, word);
        assert_eq!(answer.get("refused").is_some(), name == "run_command_bg", "{name}");
    }
    let context = json!({ "sessionID": "x" });
    let answer = execute(tools, "command_status", json!({}), context, Cancel::never()).await;
    assert_refused(&answer, "ERR_BAD_OPTION", "context has no option \"sessionID\"");
    let call = tools.call(Value::Number(5.0), Value::Absent, &Value::Absent, Value::Absent, Cancel::never());
    let answer = serde_json::to_value(tools.execute(call).await).unwrap();
    assert_refused(&answer, "ERR_UNKNOWN_TOOL", "No tool is called the number 5");
}

#[tokio::test]
async fn a_tool_that_is_not_registered_is_unknown_and_says_how_to_register_it() {
    let dir = tempfile::tempdir().unwrap();
    let tools = Tools::new(host(dir.path(), json!({})));
    assert!(tools.definitions().is_empty());
    let answer = run(&tools, json!({ "argv": ["/bin/true"] })).await;
    assert_refused(&answer, "ERR_UNKNOWN_TOOL", "registerBackgroundCommandTools(policy)");
}

/// A question's decision and ticket, with the budget that the hook is shown.
fn question(answer: &Json) -> (u64, u64, u64) {
    let number = |value: &Json| value.as_u64().unwrap_or_else(|| panic!("no question: {answer}"));
    assert_eq!(answer["question"], "approve");
    (number(&answer["decision"]), number(&answer["ticket"]), number(&answer["request"]["timeoutMs"]))
}

#[tokio::test]
async fn a_model_narrows_its_time_budget_and_never_widens_it() {
    let Place { tools, .. } = &place(json!({}));
    let given = [("defaultTimeoutMs", Value::Number(1_000.0)), ("maxTimeoutMs", Value::Number(9_000.0))];
    let hook = [("allowedCommands", Value::List(Vec::new())), ("approve", Value::Function)];
    policy(tools, &[&given[..], &hook[..]].concat());
    for (asked, granted) in
        [(json!(null), 1_000), (json!(5), 5), (json!(8_000), 1_000), (json!(99_000), 1_000)]
    {
        let answer = run(tools, json!({ "argv": ["/bin/true"], "timeoutMs": asked })).await;
        let (decision, ticket, timeout_ms) = question(&answer);
        assert_eq!(timeout_ms, granted, "{asked}");
        tools.decide(decision, ticket, &value(json!({ "value": "no" }))).await;
        let Answer::Done(_) = tools.outcome(decision, Cancel::never()).await else { panic!("not done") };
    }
}

#[tokio::test]
async fn an_approval_that_takes_too_long_is_pending_and_the_same_call_joins_it() {
    let Place { tools, .. } = &place(json!({}));
    approving(tools);
    let argv = || json!({ "argv": ["/bin/true"], "cwd": "/" });
    let (decision, ticket, _) = question(&run(tools, argv()).await);
    let pending = serde_json::to_value(tools.outcome(decision, Cancel::never()).await).unwrap();
    assert_refused(&pending, "ERR_APPROVAL_PENDING", "same call again");
    assert!(pending.get("refused").is_none(), "nothing is refused yet");
    assert_refused(&run(tools, argv()).await, "ERR_APPROVAL_PENDING", "same call again");
    // "." of the root is the same place.
    let same = json!({ "argv": ["/bin/true"], "cwd": "." });
    assert_refused(&run(tools, same).await, "ERR_APPROVAL_PENDING", "same call again");

    let refused = tools.decide(decision, ticket, &value(json!({ "value": "not today" }))).await;
    assert!(matches!(refused, Decided::Refused { .. }));
    assert_refused(&run(tools, argv()).await, "ERR_APPROVAL_DENIED", "not today");
    question(&run(tools, argv()).await);
}

#[tokio::test]
async fn what_is_approved_while_nobody_waits_is_started_once() {
    let Place { tools, .. } = &place(json!({}));
    approving(tools);
    let argv = || json!({ "argv": ["/bin/true"] });
    let (decision, ticket, _) = question(&run(tools, argv()).await);
    assert_refused(
        &serde_json::to_value(tools.outcome(decision, Cancel::never()).await).unwrap(),
        "ERR_APPROVAL_PENDING",
        "",
    );
    // There is no warden here: that the start was tried is what its failure tells.
    tools.decide(decision, ticket, &value(json!({ "value": true }))).await;
    assert_refused(&run(tools, argv()).await, "ERR_KEEPER", "");
    question(&run(tools, argv()).await);
    let late = tools.decide(decision, ticket, &value(json!({ "value": true }))).await;
    assert!(matches!(late, Decided::Withdrawn {}), "an answer counts once: {late:?}");
}

#[tokio::test]
async fn an_abort_takes_back_a_start_that_was_not_made() {
    let Place { tools, .. } = &place(json!({}));
    approving(tools);
    let params = || json!({ "argv": ["/bin/true"] });
    let (sender, cancel) = Cancel::new();
    let call = execute(tools, "run_command_bg", params(), json!({}), cancel.clone()).await;
    let (decision, ticket, _) = question(&call);
    sender.send_replace(true);
    let aborted = serde_json::to_value(tools.outcome(decision, cancel.clone()).await).unwrap();
    assert_refused(&aborted, "ERR_ABORTED", "before anything ran");
    let late = tools.decide(decision, ticket, &value(json!({ "value": true }))).await;
    assert!(matches!(late, Decided::Withdrawn {}), "{late:?}");

    let answer = execute(tools, "run_command_bg", params(), json!({}), cancel.clone()).await;
    assert_refused(&answer, "ERR_ABORTED", "before anything ran");
    let kill = execute(tools, "command_kill", json!({ "taskId": "x" }), json!({}), cancel).await;
    assert_refused(&kill, "ERR_ABORTED", "aborted");
}

#[tokio::test]
async fn closing_the_host_ends_what_is_undecided() {
    let Place { tools, .. } = &place(json!({}));
    approving(tools);
    let (decision, ..) = question(&run(tools, json!({ "argv": ["/bin/true"] })).await);
    tools.close();
    let closed = serde_json::to_value(tools.outcome(decision, Cancel::never()).await).unwrap();
    assert_refused(&closed, "ERR_DISPOSED", "disposed");
}

#[tokio::test]
async fn a_call_belongs_to_its_own_session_else_to_the_contexts() {
    let Place { tools, .. } = &place(json!({}));
    approving(tools);
    tools.set_context(&value(json!({ "sessionId": "default" }))).unwrap();
    let params = || json!({ "argv": ["/bin/true"] });
    let session = async |context: Json| {
        let answer = execute(tools, "run_command_bg", params(), context, Cancel::never()).await;
        question(&answer);
        answer["request"]["sessionId"].clone()
    };
    assert_eq!(session(json!({})).await, "default");
    assert_eq!(session(json!({ "sessionId": "own" })).await, "own");
    tools.set_context(&value(json!({}))).unwrap();
    assert_eq!(session(json!(null)).await, Json::Null);
    assert!(tools.set_context(&value(json!({ "session": "x" }))).is_err());
}
