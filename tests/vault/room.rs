//! Room: `maxVaultBytes`, `cleanup` and `retention` through a host.

use argvault::input::Value;
use serde_json::json;

use crate::place::{NEXT, Place, code, eventually, json, settled, start, value};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_vault_refuses_before_anything_is_made_and_takes_commands_again_after_a_cleanup() {
    let place = Place::new();
    let host = place.host_with(&json!({ "maxVaultBytes": 1_000_000 }), &json!({}));
    let task = start(&host, "head -c 2000000 /dev/zero").await.unwrap();
    settled(&host, &task).await;
    let error = start(&host, "true").await.unwrap_err();
    assert_eq!(error.to_wire().code, "ERR_VAULT_FULL");
    assert!(error.to_wire().message.contains("cleanup"), "{error}");
    assert_eq!(place.names(), [task]);
    let banked = host.bank(Value::Text("x".into()), &value(json!({ "kind": "k", "label": "l" }))).await;
    assert_eq!(code(banked), "ERR_VAULT_FULL");

    // Another host, which has measured nothing yet, is told the same.
    let other = place.host_with(&json!({ "maxVaultBytes": 1_000_000 }), &json!({}));
    assert_eq!(code(start(&other, "true").await), "ERR_VAULT_FULL");

    let cleaned = json(&host.cleanup(&value(json!({ "maxBytes": 500_000 }))).unwrap());
    assert_eq!(cleaned["removed"], 1);
    assert!(cleaned["freedBytes"].as_u64().unwrap() >= 2_000_000);
    let task = start(&host, "true").await.unwrap();
    assert_eq!(settled(&host, &task).await["state"], "exited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cleanup_leaves_the_live_and_forgets_what_it_removed() {
    let place = Place::new();
    let host = place.host();
    let live = start(&host, "echo ready; exec sleep 600").await.unwrap();
    let over = start(&host, "echo over").await.unwrap();
    eventually("the end of the second", || host.counts(None).finished == 1).await;
    assert_eq!(json(&host.cleanup(&Value::Absent).unwrap())["removed"], 0);
    let all = value(json!({ "maxBytes": 0 }));
    assert_eq!(json(&host.cleanup(&all).unwrap())["removed"], 1);
    assert_eq!(host.counts(None).finished, 0);
    assert_eq!(code(host.status(&over)), "ERR_UNKNOWN_TASK");
    assert_eq!(json(&host.status(&live).unwrap())["state"], "running");
    assert_eq!(place.names(), [live]);
    for options in [json!({ "maxBytes": -1 }), json!({ "olderThan": 1 })] {
        assert_eq!(code(host.cleanup(&value(options))), "ERR_BAD_OPTION");
    }
    host.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retention_is_applied_by_the_host_itself() {
    let place = Place::new();
    let before = place.host();
    let old = start(&before, "echo old").await.unwrap();
    settled(&before, &old).await;
    let host = place.host_with(&json!({ "retention": { "maxBytes": 0 } }), &json!({}));
    let live = start(&host, "exec sleep 600").await.unwrap();
    eventually("the removal of the old one", || place.names() == [&*live]).await;
    host.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_folder_is_made_ahead_and_goes_with_the_host() {
    let place = Place::new();
    let host = place.host();
    let next = place.folder(NEXT);
    for _ in 0..3 {
        let task = start(&host, "echo out").await.unwrap();
        assert_eq!(settled(&host, &task).await["state"], "exited");
        assert_eq!(std::fs::read(place.folder(&task).join("stdout")).unwrap(), b"out\n");
        eventually("the next folder", || next.join("stderr").exists()).await;
    }
    assert_eq!(place.names().len(), 3);
    assert_eq!(json(&host.cleanup(&value(json!({ "maxBytes": 0 }))).unwrap())["removed"], 3);
    assert!(next.exists(), "it is locked");
    host.dispose().await;
    assert!(!next.exists() && place.names().is_empty());
}
