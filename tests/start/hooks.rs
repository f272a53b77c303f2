//! The host's own word, and that what it was about is what runs.

use argvault::host::Cancel;
use serde_json::{Value as Json, json};

use crate::support::{Rig, refusal, reply_json, script, value};

async fn answer(rig: &Rig, question: &Json, reply: Json) -> Result<Json, argvault::error::Error> {
    let ticket = question["ticket"].as_u64().unwrap();
    Ok(reply_json(&rig.host.answer(ticket, &value(reply), Cancel::never()).await?))
}

#[tokio::test]
async fn an_unmatched_command_asks_and_only_true_lets_it_run() {
    let rig = Rig::new(json!({ "allowedCommands": [["echo", "a"]], "approve": "<function>" }));
    assert!(rig.try_start(json!(["echo", "a"]), json!({})).await.unwrap()["taskId"].is_string());

    let question = rig.try_start(json!(["echo", "b"]), json!({ "timeoutMs": 5000 })).await.unwrap();
    assert_eq!(question["question"], "approve");
    assert_eq!(question["request"]["argv"], json!(["echo", "b"]));
    assert_eq!(question["request"]["timeoutMs"], 5000);
    let (code, _) = refusal(answer(&rig, &question, json!({ "value": "yes" })).await);
    assert_eq!(code, "ERR_APPROVAL_DENIED");

    let question = rig.try_start(json!(["echo", "b"]), json!({})).await.unwrap();
    let handle = answer(&rig, &question, json!({ "value": true })).await.unwrap();
    let task = handle["taskId"].as_str().unwrap();
    rig.settled(task).await;
    assert_eq!(rig.bytes(task, "stdout"), b"b\n");
}

#[tokio::test]
async fn a_question_is_answered_once() {
    let rig = Rig::new(json!({ "allowlist": "<function>" }));
    let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
    assert_eq!(question["question"], "allowlist");
    assert!(answer(&rig, &question, json!({ "value": true })).await.unwrap()["taskId"].is_string());
    assert_eq!(refusal(answer(&rig, &question, json!({ "value": true })).await).0, "ERR_BAD_OPTION");
}

#[tokio::test]
async fn approve_comes_first_and_the_allowlist_has_the_last_word() {
    let rig = Rig::new(
        json!({ "allowedCommands": [["true"]], "approve": "<function>", "allowlist": "<function>" }),
    );
    let first = rig.try_start(json!(["echo"]), json!({})).await.unwrap();
    assert_eq!(first["question"], "approve");
    let second = answer(&rig, &first, json!({ "value": true })).await.unwrap();
    assert_eq!(second["question"], "allowlist");
    let (code, message) = refusal(answer(&rig, &second, json!({ "value": "not on a Monday" })).await);
    assert_eq!((code.as_str(), message.as_str()), ("ERR_VETOED", "not on a Monday"));
}

#[tokio::test]
async fn a_program_that_is_replaced_while_a_human_thinks_does_not_run() {
    let rig = Rig::new(json!({ "allowedExecutables": ["./tool"], "allowlist": "<function>" }));
    script(&rig.work().join("tool"), "#!/bin/sh\necho shown\n");
    let question = rig.try_start(json!(["./tool"]), json!({})).await.unwrap();
    std::fs::remove_file(rig.work().join("tool")).unwrap();
    script(&rig.work().join("tool"), "#!/bin/sh\necho swapped\n");
    assert_eq!(refusal(answer(&rig, &question, json!({ "value": true })).await).0, "ERR_EXECUTABLE_CHANGED");
}

#[tokio::test]
async fn the_directory_that_was_shown_is_the_one_that_is_used() {
    let rig = Rig::new(json!({ "allowlist": "<function>" }));
    let (shown, moved) = (rig.work().join("shown"), rig.work().join("moved"));
    std::fs::create_dir(&shown).unwrap();
    std::fs::write(shown.join("mark"), "the one").unwrap();
    let question = rig.try_start(json!(["cat", "mark"]), json!({ "cwd": "shown" })).await.unwrap();
    std::fs::rename(&shown, &moved).unwrap();
    std::os::unix::fs::symlink("/", &shown).unwrap();
    let handle = answer(&rig, &question, json!({ "value": true })).await.unwrap();
    let task = handle["taskId"].as_str().unwrap();
    rig.settled(task).await;
    assert_eq!(rig.bytes(task, "stdout"), b"the one");
}

#[tokio::test]
async fn a_policy_set_while_a_hook_thinks_changes_later_starts_only() {
    let rig = Rig::new(json!({ "allowlist": "<function>" }));
    let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
    rig.set_policy(json!({ "allowedExecutables": ["echo"] }));
    assert!(answer(&rig, &question, json!({ "value": true })).await.unwrap()["taskId"].is_string());
    assert_eq!(refusal(rig.try_start(json!(["true"]), json!({})).await).0, "ERR_EXECUTABLE_NOT_ALLOWED");
}

#[tokio::test]
async fn a_hook_that_takes_too_long_or_throws_refuses() {
    let rig = Rig::new(json!({ "allowlist": "<function>", "approvalTimeoutMs": 1234 }));
    for (reply, word) in [(json!({ "timedOut": true }), "1234"), (json!({ "thrown": "boom" }), "boom")] {
        let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
        assert_eq!(question["timeoutMs"], 1234);
        let (code, message) = refusal(answer(&rig, &question, reply).await);
        assert_eq!(code, "ERR_VETOED");
        assert!(message.contains(word), "{message}");
    }
    let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
    assert_eq!(refusal(answer(&rig, &question, json!({ "aborted": true })).await).0, "ERR_ABORTED");
}
