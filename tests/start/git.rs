//! Questions to git, through the host.

use std::path::Path;
use std::process::Command;

use argvault::host::Cancel;
use argvault::host::git::Asking;
use serde_json::{Value as Json, json};

use crate::support::{Rig, environment, value};

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with one commit, and a host that asks it without any policy.
fn rig() -> Rig {
    let rig = Rig::without_policy(json!({}));
    git(&rig.work(), &["init", "-q"]);
    std::fs::write(rig.work().join("file"), "one\ntwo\n").unwrap();
    git(&rig.work(), &["add", "file"]);
    git(&rig.work(), &["commit", "-q", "-m", "the first"]);
    rig.host.register_git(&value(json!({ "repoRoot": rig.work() })), &environment()).unwrap();
    rig
}

async fn ask(rig: &Rig, tool: &str, params: Json) -> Json {
    let asking = Asking { tool: tool.into(), session_id: Some("s".into()), shows_stderr: false };
    let answer = rig.host.ask_git(&value(params), asking, Cancel::never()).await.unwrap();
    serde_json::to_value(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_banked_whole_and_its_head_is_shown() {
    let rig = rig();
    let answer = ask(&rig, "git_log", json!({})).await;
    assert_eq!(
        (&answer["ok"], &answer["exitCode"], &answer["state"]),
        (&json!(true), &json!(0), &json!("exited"))
    );
    assert!(answer["preview"].as_str().unwrap().contains("the first"), "{answer:#}");
    let artifact = answer["output"]["artifactId"].as_str().unwrap();
    assert!(rig.host.read_artifact(artifact).unwrap().unwrap().contains("the first"));
    assert!(answer["readBackHint"].as_str().unwrap().contains(artifact), "{answer:#}");
    assert!(answer.get("stderrPreview").is_none(), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_as_it_was_is_gits_own_bytes() {
    let rig = rig();
    let answer = ask(&rig, "git_show", json!({ "ref": "HEAD:file" })).await;
    let artifact = answer["output"]["artifactId"].as_str().unwrap();
    assert_eq!(rig.host.read_artifact(artifact).unwrap().unwrap(), "one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_count_as_no_command_and_leave_only_their_main_run() {
    let rig = rig();
    ask(&rig, "git_log", json!({ "ref": "main" })).await;
    let counts = rig.host.counts(None);
    assert_eq!((counts.running, counts.finished), (0, 0));
    assert!(rig.announced.all().is_empty());
    let records = std::fs::read_dir(rig.vault()).unwrap().filter(|entry| {
        let entry = entry.as_ref().unwrap();
        entry.path().join("record.json").exists()
    });
    assert_eq!(records.count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_git_says_is_data_and_what_it_would_not_be_asked_is_a_refusal() {
    let rig = rig();
    let host = &rig.host;
    let answer =
        host.run_git_command(&value(json!(["cat-file", "-e", "HEAD:missing"])), None, Cancel::never()).await;
    let answer = serde_json::to_value(answer.unwrap()).unwrap();
    assert_eq!(answer["ok"], false, "{answer:#}");
    assert!(answer["stderrPreview"].is_string(), "{answer:#}");

    let asking = Asking { tool: "git_log".into(), session_id: None, shows_stderr: false };
    let params = value(json!({ "ref": "--output=x" }));
    let error = host.ask_git(&params, asking, Cancel::never()).await.unwrap_err().to_wire();
    assert_eq!(error.code, "ERR_GIT_BAD_VALUE");
    assert!(error.message.contains("must not start with \"-\""), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kernel_holds_git_to_git_where_it_can() {
    let rig = rig();
    ask(&rig, "git_log", json!({})).await;
    let record = std::fs::read_dir(rig.vault())
        .unwrap()
        .find_map(|entry| std::fs::read(entry.unwrap().path().join("record.json")).ok())
        .unwrap();
    let record: Json = serde_json::from_slice(&record).unwrap();
    let abi = std::env::var("ARGVAULT_EXPECT_LANDLOCK_ABI").map_or(6, |text| text.parse::<u32>().unwrap());
    let expected = if abi == 0 { "unavailable" } else { "enforced" };
    for what in ["execute", "read", "write"] {
        assert_eq!(record["confinement"][what], expected, "{record:#}");
    }
}
