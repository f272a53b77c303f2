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

#[tokio::test]
async fn a_hook_sees_what_the_command_would_be_held_to() {
    let rig = Rig::new(json!({ "allowlist": "<function>", "confinement": "workspace" }));
    let work = std::fs::canonicalize(rig.work()).unwrap();
    std::fs::create_dir(work.join("sub")).unwrap();
    let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
    let shown = &question["request"]["confinement"];
    assert_eq!(shown["level"], "required");
    assert_eq!((&shown["read"], &shown["write"]), (&json!([work]), &json!([work])));
    assert_eq!((&shown["network"], &shown["signals"]), (&json!("none"), &json!("own-tree")));
    assert_eq!((&shown["keepTmp"], &shown["execute"]), (&json!(false), &Json::Null));
    assert_eq!(
        shown["enforced"],
        json!({
            "execute": "not-requested", "read": "enforced", "write": "enforced",
            "network": "enforced", "signals": "enforced", "syscalls": "enforced",
        })
    );

    let narrower = json!({ "confinement": { "write": ["sub"], "execute": ["true"] } });
    let question = rig.try_start(json!(["true"]), narrower).await.unwrap();
    let shown = &question["request"]["confinement"];
    assert_eq!((&shown["read"], &shown["write"]), (&json!([work]), &json!([work.join("sub")])));
    let files = shown["execute"].as_array().unwrap();
    assert!(files.iter().any(|file| file.as_str().unwrap().ends_with("/true")), "{files:?}");

    rig.set_policy(json!({ "allowlist": "<function>" }));
    let question = rig.try_start(json!(["true"]), json!({})).await.unwrap();
    assert!(question["request"]["confinement"].is_null(), "{question}");
}

#[tokio::test]
async fn the_confinement_that_was_shown_is_the_one_that_holds() {
    let rig = Rig::new(json!({
        "allowlist": "<function>",
        "confinement": { "level": "required", "write": ["granted"] },
    }));
    let (granted, other) = (rig.work().join("granted"), rig.work().join("other"));
    std::fs::create_dir(&granted).unwrap();
    std::fs::create_dir(&other).unwrap();
    let argv = json!(["sh", "-c", "echo x > granted/file"]);
    let question = rig.try_start(argv.clone(), json!({})).await.unwrap();
    std::fs::rename(&granted, rig.work().join("moved")).unwrap();
    std::os::unix::fs::symlink(&other, &granted).unwrap();
    let handle = answer(&rig, &question, json!({ "value": true })).await.unwrap();
    let status = rig.settled(handle["taskId"].as_str().unwrap()).await;
    assert_ne!(status["exitCode"], 0, "{status:#}");
    // Asked again, the link is what is shown and holds.
    let question = rig.try_start(argv, json!({})).await.unwrap();
    let real = std::fs::canonicalize(&other).unwrap();
    assert_eq!(question["request"]["confinement"]["write"], json!([real]));
    let handle = answer(&rig, &question, json!({ "value": true })).await.unwrap();
    let status = rig.settled(handle["taskId"].as_str().unwrap()).await;
    assert_eq!(status["exitCode"], 0, "{status:#}");
}
