//! The audit trail.

use serde_json::json;

use crate::support::Rig;

#[tokio::test]
async fn each_start_and_each_refusal_is_one_line() {
    let rig = Rig::new(json!({}));
    let task = rig.start(json!(["echo", "x"]), json!({ "sessionId": "s1" })).await;
    rig.settled(&task).await;
    assert!(rig.try_start(json!(["rm", "-rf"]), json!({ "cwd": "sub", "sessionId": "s2" })).await.is_err());
    assert!(rig.try_start(json!("echo x"), json!({})).await.is_err());
    let lines = rig.audit();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    let policy = rig.host.policy().unwrap().rules.digest().to_owned();
    let started = &lines[0];
    assert_eq!(started["event"], "started");
    assert_eq!(started["taskId"], json!(task));
    assert_eq!(started["policy"], json!(policy));
    assert_eq!(started["argv"], json!(["echo", "x"]));
    assert_eq!(started["sessionId"], "s1");
    assert!(
        started["identity"]["ino"].is_u64() && started["executable"].as_str().unwrap().ends_with("/echo")
    );
    let refused = &lines[1];
    assert_eq!(
        (&refused["event"], &refused["code"]),
        (&json!("refused"), &json!("ERR_EXECUTABLE_NOT_ALLOWED"))
    );
    assert_eq!((&refused["argv"], &refused["cwd"]), (&json!(["rm", "-rf"]), &json!("sub")));
    assert_eq!(lines[2]["code"], "ERR_BAD_ARGV");
}

#[tokio::test]
async fn a_trail_that_cannot_be_written_stops_starts() {
    let rig = Rig::new(json!({}));
    rig.run(json!(["true"]), json!({})).await;
    let other = Rig::new(json!({}));
    // A link in the place of the trail is not followed, so it can't be written.
    std::fs::create_dir_all(other.vault()).unwrap();
    std::os::unix::fs::symlink("/dev/null", other.vault().join("audit.ndjson")).unwrap();
    let (code, _) = crate::support::refusal(other.try_start(json!(["true"]), json!({})).await);
    assert_eq!(code, "ERR_VAULT_UNAVAILABLE");
    let left: Vec<_> =
        std::fs::read_dir(other.vault()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["audit.ndjson"], "nothing of the start is left");
}
