//! What the status, the record and the audit trail say, and the private temporary directory.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use crate::attempt::{Field, sh};
use crate::support::refusal;

#[tokio::test]
async fn what_was_enforced_is_said_everywhere() {
    let field = Field::new();
    let confinement = json!({ "level": "required", "execute": ["sh"], "network": "none" });
    let (status, _) = field.run(Some(&confinement), &sh("exit 3")).await;
    let said = &status["confinement"];
    assert_eq!(status["exitCode"], 3);
    for (key, expected) in [
        ("level", "required"),
        ("execute", "enforced"),
        ("read", "not-requested"),
        ("write", "not-requested"),
        ("network", "enforced"),
        ("signals", "not-requested"),
        ("syscalls", "enforced"),
    ] {
        assert_eq!(said[key], expected, "{key}: {said:#}");
    }
    assert!(!said["executables"].as_array().unwrap().is_empty());
    let task = status["taskId"].as_str().unwrap();
    let record: Json =
        serde_json::from_slice(&std::fs::read(field.rig.vault().join(task).join("record.json")).unwrap())
            .unwrap();
    assert_eq!(record["confinement"]["network"], "enforced");
    assert!(record["confinement"]["executables"].is_null());
    let line = field.rig.audit().pop().unwrap();
    assert_eq!((&line["event"], &line["confinement"]["execute"]), (&json!("started"), &json!("enforced")));

    let (free, _) = field.run(None, &sh("exit 0")).await;
    assert!(free["confinement"].is_null() && free["tmpDir"].is_null(), "{free:#}");
}

#[tokio::test]
async fn a_running_command_says_it_too() {
    let field = Field::new();
    field.rig.set_policy(json!({ "confinement": "workspace" }));
    let task = field.rig.start(sh("echo > $TMPDIR/here; sleep 60"), json!({})).await;
    let status = serde_json::to_value(field.rig.host.status(&task).unwrap()).unwrap();
    assert_eq!((&status["state"], &status["confinement"]["write"]), (&json!("running"), &json!("enforced")));
    let tmp = std::path::PathBuf::from(status["tmpDir"].as_str().unwrap());
    crate::support::eventually("the file", || tmp.join("here").exists().then_some(())).await;
    assert_eq!(std::fs::metadata(&tmp).unwrap().permissions().mode() & 0o777, 0o700);
    let killed = field.rig.host.kill(&task, argvault::os::signal::SignalNumber::TERM).await.unwrap();
    assert_eq!(serde_json::to_value(killed).unwrap()["tmpDir"], json!(null));
    assert!(!tmp.exists(), "removed by the time it is settled");
}

#[tokio::test]
async fn the_temporary_directory_stays_on_request_and_gives_way_to_one_that_was_given() {
    let field = Field::new();
    let keep = json!({ "level": "required", "keepTmp": true });
    let (status, _) = field.run(Some(&keep), &sh("echo kept > $TMPDIR/file")).await;
    let tmp = std::path::PathBuf::from(status["tmpDir"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(tmp.join("file")).unwrap(), "kept\n");
    let options = json!({ "env": { "PATH": "/usr/bin:/bin", "TMPDIR": field.outside } });
    let (status, text) = field.run_with(Some(&keep), &sh("echo $TMPDIR"), options).await;
    assert_eq!(text, format!("{}\n", field.outside.display()));
    assert!(status["tmpDir"].is_null());
    let options = json!({ "env": { "PATH": "/usr/bin:/bin" } });
    let (status, text) = field.run_with(Some(&keep), &sh("echo $TMPDIR"), options).await;
    assert_eq!(json!(text.trim_end()), status["tmpDir"]);
}

#[tokio::test]
async fn a_start_narrows_and_never_widens() {
    let field = Field::new();
    field.rig.set_policy(json!({ "confinement": { "level": "required", "write": ["."] } }));
    let wider = json!({ "confinement": { "write": ["/"] } });
    let (code, message) = refusal(field.rig.try_start(sh("true"), wider).await);
    assert_eq!(code, "ERR_BUDGET", "{message}");
    // By its text the link is within; what it leads to isn't.
    std::os::unix::fs::symlink(&field.outside, field.rig.work().join("link")).unwrap();
    let through = json!({ "confinement": { "write": [field.rig.work().join("link")] } });
    let (code, message) = refusal(field.rig.try_start(sh("true"), through).await);
    assert_eq!(code, "ERR_BUDGET", "{message}");
    let status = field.rig.run(sh("echo x > file"), json!({ "confinement": { "write": [] } })).await;
    assert_ne!(status["exitCode"], 0, "{status:#}");
    assert_eq!(field.rig.run(sh("echo x > file"), json!({})).await["exitCode"], 0);
}

#[tokio::test]
async fn a_program_that_is_not_listed_does_not_start_by_itself_either() {
    let field = Field::new();
    let (status, _) =
        field.run(Some(&json!({ "level": "required", "execute": ["find"] })), &sh("true")).await;
    assert_eq!(status["cause"], "start-failed");
    assert!(status["error"].as_str().unwrap().contains("confinement.execute"), "{status:#}");
}

#[tokio::test]
async fn a_policy_whose_commands_may_write_the_vault_warns_of_it() {
    let field = Field::new();
    let warnings = |write: Json| {
        let confinement = json!({ "level": "required", "write": write });
        let policy = json!({ "allowedExecutables": ["true"], "cwdRoot": field.rig.work(), "confinement": confinement });
        let policy = crate::support::value(policy);
        field.rig.host.set_policy(&policy, &crate::support::environment()).unwrap().join(" ")
    };
    let above = field.rig.vault().parent().unwrap().to_owned();
    assert!(warnings(json!([".", above])).contains("confinement.write gives"));
    assert!(!warnings(json!(["."])).contains("confinement.write gives"));
}
