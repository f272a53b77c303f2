//! Lists, pages by line, search and banked artifacts through a host.

use argvault::input::Value;
use serde_json::json;

use crate::place::{Place, code, json, settled, start, start_with, value};

fn ids(list: &serde_json::Value) -> Vec<String> {
    let commands = list["commands"].as_array().unwrap().iter();
    commands.map(|command| command["taskId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_read_by_pages_that_stay_while_commands_are_added() {
    let place = Place::new();
    let host = place.host();
    let mut all = Vec::new();
    for _ in 0..5 {
        let task = start(&host, "echo x").await.unwrap();
        settled(&host, &task).await;
        all.insert(0, task);
    }
    let first = json(&host.list(&value(json!({ "limit": 2 }))).unwrap());
    // Within one millisecond ids are in no order.
    let mut sorted = all.clone();
    sorted.sort_by(|a, b| b.cmp(a));
    assert_eq!(ids(&first), sorted[..2]);
    let newer = start(&host, "echo y").await.unwrap();
    settled(&host, &newer).await;
    let mut cursor = first["nextCursor"].clone();
    let mut rest = Vec::new();
    while !cursor.is_null() {
        let page = json(&host.list(&value(json!({ "limit": 2, "cursor": cursor }))).unwrap());
        rest.extend(ids(&page));
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(rest, sorted[2..]);
    assert_eq!(host.counts(None).finished, 0, "awaiting them was looking at them");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_narrowed_by_session_and_state() {
    let place = Place::new();
    let host = place.host();
    let mine = start_with(&host, "exit 3", json!({ "sessionId": "s" })).await.unwrap();
    let running = start(&host, "exec sleep 600").await.unwrap();
    settled(&host, &mine).await;
    let list = |options: serde_json::Value| ids(&json(&host.list(&value(options)).unwrap()));
    assert_eq!(list(json!({ "sessionId": "s" })), [&*mine]);
    assert_eq!(list(json!({ "state": "exited" })), [&*mine]);
    assert_eq!(list(json!({ "state": "settled" })), [mine]);
    for state in ["running", "live"] {
        assert_eq!(list(json!({ "state": state })), [&*running]);
    }
    assert!(list(json!({ "state": "abandoned" })).is_empty());
    for options in
        [json!({ "state": "x" }), json!({ "cursor": "x" }), json!({ "limit": 0 }), json!({ "a": 1 })]
    {
        assert_eq!(code(host.list(&value(options))), "ERR_BAD_OPTION");
    }
    host.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_read_by_lines_and_searched() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "printf 'one\\ntwo\\nthree\\n'").await.unwrap();
    settled(&host, &task).await;
    let page = json(&host.read_output(&task, &value(json!({ "line": 2, "lines": 1 }))).unwrap());
    assert_eq!((page["content"].as_str(), page["nextLine"].as_u64()), (Some("2\ttwo\n"), Some(3)));
    assert_eq!((page["taskId"].as_str(), page["stream"].as_str()), (Some(&*task), Some("stdout")));
    assert_eq!(page["totalLines"], 3);
    for options in [json!({ "line": 1, "offset": 0 }), json!({ "lines": 1, "limit": 1 })] {
        assert_eq!(code(host.read_output(&task, &value(options))), "ERR_BAD_OPTION");
    }
    let found = json(&host.search(&task, &value(json!({ "pattern": "^t", "before": 1 }))).unwrap());
    let lines: Vec<_> = found["matches"].as_array().unwrap().iter().map(|found| &found["line"]).collect();
    assert_eq!(lines, [2, 3]);
    assert_eq!(found["matches"][0]["before"], json!(["one"]));
    assert_eq!(found["truncated"], false);
    assert_eq!(code(host.search(&task, &value(json!({ "pattern": "(" })))), "ERR_BAD_PATTERN");
    for options in [json!({}), json!({ "pattern": 5 }), json!({ "pattern": "x", "max": 1 })] {
        assert_eq!(code(host.search(&task, &value(options))), "ERR_BAD_OPTION");
    }
    assert_eq!(code(host.search("x", &value(json!({ "pattern": "x" })))), "ERR_UNKNOWN_TASK");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_banked_is_read_like_output() {
    let place = Place::new();
    let host = place.host();
    let options = json!({ "kind": "note", "label": "notes", "previewChars": 3 });
    let text = Value::Text("alpha\nbeta 😀\n".into());
    let banked = json(&host.bank(text, &value(options.clone())).await.unwrap());
    let id = banked["artifactId"].as_str().unwrap();
    assert_eq!((banked["sizeBytes"].as_u64(), banked["preview"].as_str()), (Some(16), Some("al…")));
    assert!(banked["readBackHint"].as_str().unwrap().contains(id));
    assert_eq!(host.read_artifact(id).unwrap().unwrap(), "alpha\nbeta 😀\n");
    assert_eq!(
        host.read_artifact_bytes(id, &value(json!({ "offset": 6, "length": 4 }))).unwrap().unwrap(),
        b"beta"
    );
    let page = json(&host.artifact_page(id, &value(json!({ "line": 2 }))).unwrap().unwrap());
    assert_eq!((page["content"].as_str(), page["artifactId"].as_str()), (Some("2\tbeta 😀\n"), Some(id)));
    let page = json(&host.artifact_page(id, &value(json!({ "offset": 11, "limit": 2 }))).unwrap().unwrap());
    assert_eq!(page["content"], "😀");

    let bytes = host.bank(Value::Bytes(vec![0xFF; 200_000]), &value(options)).await.unwrap();
    assert_eq!(json(&bytes)["sizeBytes"], 200_000);
    assert!(json(&host.list(&Value::Absent).unwrap())["commands"].as_array().unwrap().is_empty());
    assert!(host.artifact_page(&"0".repeat(26), &Value::Absent).unwrap().is_none());
    assert!(host.artifact_page("../x", &Value::Absent).unwrap().is_none());
    let bank = |content: Value, options: serde_json::Value| {
        let host = std::sync::Arc::clone(&host);
        async move { code(host.bank(content, &value(options)).await) }
    };
    assert_eq!(bank(Value::Absent, json!({ "kind": "k", "label": "l" })).await, "ERR_BAD_OPTION");
    for options in [json!({}), json!({ "kind": "k" }), json!({ "kind": "", "label": "l" })] {
        assert_eq!(bank(Value::Text(String::new()), options).await, "ERR_BAD_OPTION");
    }
}
