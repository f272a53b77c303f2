//! `maxConcurrent`: the excess waits in order, can be killed and timed, and costs no budget.

use serde_json::json;

use crate::support::{Rig, eventually};

/// Runs until the file `go` is there.
fn until_go(rig: &Rig) -> serde_json::Value {
    let go = rig.work().join("go");
    json!(["sh", "-c", format!("while ! test -e {}; do sleep 0.02; done; date +%s%N", go.display())])
}

fn go(rig: &Rig) {
    std::fs::write(rig.work().join("go"), "").unwrap();
}

fn state(rig: &Rig, task: &str) -> String {
    let status = serde_json::to_value(rig.host.status(task).unwrap()).unwrap();
    status["state"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_excess_is_queued_and_runs_in_order() {
    let rig = Rig::new(json!({ "maxConcurrent": 1 }));
    let mut tasks = Vec::new();
    for _ in 0..4 {
        tasks.push(rig.start(until_go(&rig), json!({})).await);
    }
    assert_eq!(state(&rig, &tasks[0]), "running");
    for task in &tasks[1..] {
        assert_eq!(state(&rig, task), "queued");
    }
    go(&rig);
    let mut times = Vec::new();
    for task in &tasks {
        let status = rig.settled(task).await;
        assert_eq!(status["exitCode"], 0, "{status:#}");
        times.push(String::from_utf8(rig.bytes(task, "stdout")).unwrap());
    }
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn a_queued_command_is_killed_without_having_run() {
    let rig = Rig::new(json!({ "maxConcurrent": 1 }));
    let first = rig.start(until_go(&rig), json!({})).await;
    let second = rig.start(json!(["sh", "-c", "touch ran"]), json!({})).await;
    let status = rig.host.kill(&second, argvault::os::signal::SignalNumber::TERM).await.unwrap();
    let status = serde_json::to_value(status).unwrap();
    assert_eq!((&status["state"], &status["cause"]), (&json!("killed"), &json!("kill")), "{status:#}");
    go(&rig);
    rig.settled(&first).await;
    assert!(!rig.work().join("ran").exists());
}

#[tokio::test]
async fn patience_ends_with_a_named_outcome() {
    let rig = Rig::new(json!({ "maxConcurrent": 1, "queueTimeoutMs": 50 }));
    let first = rig.start(until_go(&rig), json!({})).await;
    let status = rig.run(json!(["true"]), json!({})).await;
    assert_eq!(status["cause"], "start-failed");
    assert!(status["error"].as_str().unwrap().contains("50ms"), "{status:#}");
    go(&rig);
    rig.settled(&first).await;
}

#[tokio::test]
async fn time_in_the_queue_is_no_budget_and_kill_all_counts_the_queued() {
    let rig = Rig::new(json!({ "maxConcurrent": 1 }));
    let first = rig.start(until_go(&rig), json!({})).await;
    let second = rig.start(json!(["true"]), json!({ "timeoutMs": 30_000 })).await;
    let queued_at =
        serde_json::to_value(rig.host.status(&second).unwrap()).unwrap()["startedAt"].as_u64().unwrap();
    go(&rig);
    rig.settled(&first).await;
    let status = rig.settled(&second).await;
    assert!(status["startedAt"].as_u64().unwrap() >= queued_at, "{status:#}");
    std::fs::remove_file(rig.work().join("go")).unwrap();

    for _ in 0..3 {
        rig.start(until_go(&rig), json!({})).await;
    }
    assert_eq!(rig.host.kill_all().await, 3);
    assert_eq!(rig.host.kill_all().await, 0);
    let announced = rig.announced.clone();
    eventually("five ends", || (announced.all().len() == 5).then_some(())).await;
}

#[tokio::test]
async fn kill_all_counts_a_start_that_was_called_and_not_yet_awaited() {
    let rig = Rig::new(json!({}));
    for _ in 0..20 {
        let argv = crate::support::value(json!(["sh", "-c", "sleep 100"]));
        let (options, env) = (argvault::input::Value::Absent, crate::support::environment());
        let start = rig.host.start(rig.host.policy(), argv, options, env, argvault::host::Cancel::never());
        let host = std::sync::Arc::clone(&rig.host);
        let killing = tokio::spawn(async move { host.kill_all().await });
        tokio::task::yield_now().await; // lets it come first, if it would
        assert!(start.await.is_ok());
        assert_eq!(killing.await.unwrap(), 1);
    }
}
