//! Following through a host: live, bounded, ended by the end.

use std::sync::Arc;

use argvault::host::CommandHost;
use argvault::input::Value;
use serde_json::json;

use crate::place::{CEILING, Place, code, eventually, start, value};

async fn next(host: &CommandHost, follower: u64) -> Option<Vec<u8>> {
    tokio::time::timeout(CEILING, host.follow_next(follower)).await.expect("no step").unwrap()
}

async fn all(host: &CommandHost, follower: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(piece) = next(host, follower).await {
        assert!(piece.len() <= 64 * 1024);
        bytes.extend_from_slice(&piece);
    }
    bytes
}

const TWO_STEPS: &str = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_comes_as_it_is_written_and_ends_with_the_command() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, TWO_STEPS).await.unwrap();
    let follower = host.follow(&task, &Value::Absent).unwrap();
    assert_eq!(next(&host, follower).await.unwrap(), b"one\n");
    let waiting = {
        let host = Arc::clone(&host);
        tokio::spawn(async move { next(&host, follower).await })
    };
    std::fs::write(place.root().join("go"), "").unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), b"two\n");
    assert_eq!(next(&host, follower).await, None);
    assert_eq!(next(&host, follower).await, None, "over is over");

    let again = host.follow(&task, &value(json!({ "from": 2 }))).unwrap();
    assert_eq!(all(&host, again).await, b"e\ntwo\n");
    let beyond = host.follow(&task, &value(json!({ "from": 99 }))).unwrap();
    assert_eq!(next(&host, beyond).await, None);
    let stderr = host.follow(&task, &value(json!({ "stream": "stderr" }))).unwrap();
    assert_eq!(next(&host, stderr).await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_arrives_whole_in_bounded_pieces() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "i=0; while [ $i -lt 200 ]; do head -c 10007 /dev/zero; i=$((i+1)); done").await;
    let follower = host.follow(&task.unwrap(), &Value::Absent).unwrap();
    assert_eq!(all(&host, follower).await.len(), 200 * 10_007);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_wakes_whoever_waits() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "exec sleep 600").await.unwrap();
    for close in [CommandHost::follow_close as fn(&CommandHost, u64), |host, _| host.abandon()] {
        let follower = host.follow(&task, &Value::Absent).unwrap();
        let waiting = {
            let host = Arc::clone(&host);
            tokio::spawn(async move { next(&host, follower).await })
        };
        close(&host, follower);
        assert_eq!(waiting.await.unwrap(), None);
        assert_eq!(next(&host, follower).await, None);
    }
    assert_eq!(code(host.follow_next(999).await), "ERR_BAD_OPTION");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dispose_ends_followers_after_the_last_byte() {
    let place = Place::new();
    let (host, other) = (place.host(), place.host());
    let own = start(&host, "echo own; exec sleep 600").await.unwrap();
    let elsewhere = start(&other, "echo other; exec sleep 600").await.unwrap();
    let mut followers = Vec::new();
    for task in [&own, &elsewhere] {
        let text = || host.read_artifact(&format!("{task}-stdout")).unwrap().unwrap();
        eventually("output", || !text().is_empty()).await;
        followers.push(host.follow(task, &Value::Absent).unwrap());
    }
    host.dispose().await;
    assert_eq!(all(&host, followers[0]).await, b"own\n");
    assert_eq!(all(&host, followers[1]).await, b"other\n");
    other.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_follow_many_at_once() {
    let place = Place::new();
    let host = place.host();
    let mut tasks = Vec::new();
    for _ in 0..10 {
        tasks.push(start(&host, TWO_STEPS).await.unwrap());
    }
    let mut waiting = Vec::new();
    for at in 0..100 {
        let (host, task) = (Arc::clone(&host), tasks[at % tasks.len()].clone());
        waiting.push(tokio::spawn(async move {
            let follower = host.follow(&task, &Value::Absent).unwrap();
            all(&host, follower).await
        }));
    }
    std::fs::write(place.root().join("go"), "").unwrap();
    for followed in waiting {
        assert_eq!(followed.await.unwrap(), b"one\ntwo\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_are_checked_and_unknown_commands_named() {
    let place = Place::new();
    let host = place.host();
    let unknown = "0".repeat(26);
    for task in ["x", &unknown] {
        let error = host.follow(task, &Value::Absent).unwrap_err();
        assert_eq!(error.to_wire().code, "ERR_UNKNOWN_TASK");
        assert!(error.to_string().contains(&format!("No background command \"{task}\"")), "{error}");
    }
    let task = start(&host, "true").await.unwrap();
    for options in [json!({ "from": -1 }), json!({ "stream": "x" }), json!({ "form": 1 })] {
        assert_eq!(code(host.follow(&task, &value(options))), "ERR_BAD_OPTION");
    }
}
