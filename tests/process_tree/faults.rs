//! Warden and keeper are processes too: killed, stopped, both at once.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value as Json, json};

use crate::rig::{Rig, is_alive, is_stopped, parent, signal};

/// A tree with a daemon that tells its keeper's id.
const TREE: &str = "echo $PPID > $MARKS/keeper; printf before; setsid sleep 100 & sleep 100 & echo ok > $MARKS/up; sleep 100";

fn assert_keeper_lost(status: &Json) {
    assert_eq!((&status["state"], &status["cause"]), (&json!("killed"), &json!("keeper-lost")), "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_kills_its_keeper_leaves_nothing_and_its_bytes_are_banked() {
    let rig = Rig::new();
    for _ in 0..10 {
        let task = rig.start(&["sh", "-c", "sleep 55 & kill -9 $PPID; sleep 56"]).await;
        assert_keeper_lost(&rig.wait(&task).await);
        rig.assert_gone();
    }
    let task = rig.sh("printf before; setsid sleep 100 & sleep 0.3; kill -9 $PPID; sleep 100").await;
    let status = rig.wait(&task).await;
    assert_keeper_lost(&status);
    assert_eq!((rig.stdout(&status), &status["stdoutBytes"]), (b"before".to_vec(), &json!(6)));
    assert!(status["durationMs"].as_u64().unwrap() >= 300, "{status:#}");
    rig.assert_gone();
    assert_eq!(rig.records().len(), 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_killed_from_outside_takes_its_own_tree_along_and_no_other() {
    let rig = Rig::new();
    let other =
        rig.sh("echo $$ > $MARKS/other; while [ ! -e $MARKS/go ]; do sleep 0.02; done; echo end").await;
    let other_pid = rig.marked_pid("other");
    let task = rig.sh(TREE).await;
    rig.marked("up");
    rig.until("the output", || rig.status(&task)["stdoutBytes"] == 6);
    signal(rig.marked_pid("keeper"), Signal::SIGKILL);
    let status = rig.wait(&task).await;
    assert_keeper_lost(&status);
    assert_eq!(rig.stdout(&status), b"before");
    rig.until("none but the other", || {
        rig.survivors().iter().all(|&pid| pid == other_pid || parent(pid) == other_pid)
    });
    std::fs::write(rig.mark("go"), "").unwrap();
    let status = rig.wait(&other).await;
    assert_eq!((&status["exitCode"], rig.stdout(&status)), (&json!(0), b"end\n".to_vec()), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_its_command_stops_goes_on() {
    let rig = Rig::new();
    let task = rig.sh("kill -STOP $PPID; echo after; exit 4").await;
    let status = rig.wait(&task).await;
    assert_eq!((&status["cause"], &status["exitCode"]), (&json!("exit"), &json!(4)), "{status:#}");
    assert_eq!(rig.stdout(&status), b"after\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_is_stopped_again_and_again_can_not_keep_its_command_alive() {
    let rig = Rig::new();
    let begun = Instant::now();
    let task = rig
        .start_with(
            &["sh", "-c", "while kill -STOP $PPID; do :; done; sleep 100"],
            json!({ "timeoutMs": 2000 }),
        )
        .await;
    let status = rig.wait(&task).await;
    assert!(["timeout", "keeper-lost"].contains(&status["cause"].as_str().unwrap()), "{status:#}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_warden_takes_nothing_along_and_a_new_one_serves_the_next_start() {
    let rig = Rig::new();
    let task = rig
        .sh("echo $$ > $MARKS/main; while [ ! -e $MARKS/go ]; do sleep 0.02; done; echo end; exit 5")
        .await;
    let main = rig.marked_pid("main");
    let warden = rig.warden().await;
    signal(warden, Signal::SIGKILL);
    rig.until("its end", || !is_alive(warden));
    assert!(is_alive(main));
    assert_eq!(rig.run_sh("echo next").await["exitCode"], 0);
    assert_ne!(rig.warden().await, warden);
    std::fs::write(rig.mark("go"), "").unwrap();
    let status = rig.wait(&task).await;
    assert_eq!((&status["cause"], &status["exitCode"]), (&json!("exit"), &json!(5)), "{status:#}");
    assert_eq!(rig.stdout(&status), b"end\n");
    assert_eq!(rig.records().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_a_warden_is_killed_and_timed_as_any_other() {
    let rig = Rig::new();
    let killed = rig.sh(TREE).await;
    rig.marked("up");
    let timed =
        rig.start_with(&["sh", "-c", "setsid sleep 100 & sleep 100"], json!({ "timeoutMs": 600 })).await;
    signal(rig.warden().await, Signal::SIGKILL);
    assert_eq!(rig.kill(&killed, "SIGTERM").await["cause"], "kill");
    assert_eq!(rig.wait(&timed).await["cause"], "timeout");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_go_on_while_the_warden_is_killed_again_and_again() {
    let rig = Rig::new();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let supervisor = rig.supervisor.clone();
    let killer = async {
        let mut killed = 0;
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            if let Some(pid) = supervisor.warden_pid().await {
                signal(i32::try_from(pid).unwrap(), Signal::SIGKILL);
                killed += 1;
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
        killed
    };
    let starter = async {
        let mut refused = 0;
        for round in 0..60 {
            match rig.try_start(&["sh", "-c", "echo $0; exit 3", &round.to_string()], json!({})).await {
                Ok(task) => {
                    let status = rig.wait(&task).await;
                    // Warden and keeper are never both killed here: what was started ends as it would have.
                    assert_eq!(
                        (&status["cause"], &status["exitCode"]),
                        (&json!("exit"), &json!(3)),
                        "{status:#}"
                    );
                }
                // Two wardens in a row were killed under one start.
                Err((code, message)) => {
                    assert_eq!(code, "ERR_KEEPER", "{message}");
                    refused += 1;
                }
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        refused
    };
    let (deaths, refused) = tokio::join!(killer, starter);
    assert!(deaths > 3, "only {deaths} wardens were killed");
    assert!(refused < 60);
    rig.assert_gone();
    assert_eq!(rig.run_sh("exit 0").await["exitCode"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_warden_goes_on_when_it_is_needed() {
    let rig = Rig::new();
    rig.run(&["true"]).await;
    let warden = rig.warden().await;
    signal(warden, Signal::SIGSTOP);
    rig.until("the stop", || is_stopped(warden));
    let begun = Instant::now();
    assert_eq!(rig.run_sh("exit 6").await["exitCode"], 6);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_killed_while_the_warden_is_stopped_is_noticed_all_the_same() {
    let rig = Rig::new();
    let task = rig.sh("echo $PPID > $MARKS/keeper; setsid sleep 100 & echo ok > $MARKS/up; sleep 100").await;
    rig.marked("up");
    let warden = rig.warden().await;
    signal(warden, Signal::SIGSTOP);
    rig.until("the stop", || is_stopped(warden) || !is_alive(warden));
    signal(rig.marked_pid("keeper"), Signal::SIGKILL);
    assert_keeper_lost(&rig.wait(&task).await);
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_and_a_warden_that_are_both_stopped_go_on() {
    let rig = Rig::new();
    let task = rig
        .start_with(
            &["sh", "-c", "echo $PPID > $MARKS/keeper; setsid sleep 100 & sleep 100"],
            json!({ "timeoutMs": 1500 }),
        )
        .await;
    let (warden, keeper) = (rig.warden().await, rig.marked_pid("keeper"));
    signal(warden, Signal::SIGSTOP);
    signal(keeper, Signal::SIGSTOP);
    let status = rig.wait(&task).await;
    assert_eq!(status["cause"], "timeout", "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_and_warden_killed_at_once_are_told_and_recorded_by_the_host() {
    let rig = Rig::new();
    let task = rig.sh("echo $PPID > $MARKS/keeper; echo out; echo ok > $MARKS/up; exec sleep 100").await;
    rig.marked("up");
    rig.until("the output", || rig.status(&task)["stdoutBytes"] == 4);
    // Stopped first, so that none of the two acts on the other's death.
    let (warden, keeper) = (rig.warden().await, rig.marked_pid("keeper"));
    signal(warden, Signal::SIGSTOP);
    signal(keeper, Signal::SIGKILL);
    signal(warden, Signal::SIGKILL);
    let status = rig.wait(&task).await;
    assert_keeper_lost(&status);
    assert!(status["error"].as_str().unwrap().contains("both"), "{status:#}");
    assert_eq!(status["stdoutBytes"], 4);
    assert!(status["durationMs"].as_u64().unwrap() > 0, "{status:#}");
    let records = rig.records();
    assert_eq!((records.len(), &records[0].1["cause"]), (1, &json!("keeper-lost")));
    // The main process dies with its keeper by itself (`PR_SET_PDEATHSIG`); deeper ones are not promised.
    rig.until("the end of the main process", || rig.survivors().is_empty());
    assert_eq!(rig.run_sh("exit 0").await["exitCode"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_both_killed_at_once_left_behind_ends_with_the_next_warden_where_there_is_a_cgroup() {
    let rig = Rig::new();
    let task = rig.sh("echo $PPID > $MARKS/keeper; setsid sleep 100 & echo ok > $MARKS/up; sleep 100").await;
    rig.marked("up");
    let (warden, keeper) = (rig.warden().await, rig.marked_pid("keeper"));
    signal(warden, Signal::SIGSTOP);
    signal(keeper, Signal::SIGKILL);
    signal(warden, Signal::SIGKILL);
    assert_keeper_lost(&rig.wait(&task).await);
    let next = rig.run(&["true"]).await;
    if next["containment"] == "cgroup" {
        rig.until("the end of the daemon", || rig.survivors().is_empty());
    }
}

/// The keeper compares a pinned script with its digest once more after the exec and before it says that it runs: the
/// script kills it while it reads that large file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_and_warden_killed_at_once_during_a_start_end_the_command_as_lost_and_run_it_once() {
    use sha2::Digest as _;
    let rig = Rig::new();
    let script = rig.place.path().join("pinned");
    let mut text = b"#!/bin/sh\necho run >> $MARKS/runs\nread _ _ _ warden _ < /proc/$PPID/stat\n\
                     kill -9 $warden\nkill -9 $PPID\nexec sleep 100\n"
        .to_vec();
    text.resize(6 << 20, b'#');
    std::fs::write(&script, &text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let digest =
        sha2::Sha256::digest(&text).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    rig.set_policy(&json!({ "allowedExecutables": ["true", { "path": script, "sha256": digest }] }));
    rig.run(&["true"]).await;
    let warden = rig.warden().await;
    let task = rig.start(&[script.to_str().unwrap()]).await;
    let status = rig.wait(&task).await;
    assert_keeper_lost(&status);
    // Its sockets are closed before it is gone.
    rig.until("the end of the warden", || !is_alive(warden));
    // It begins to listen right after it has said that it runs.
    assert!(!rig.vault().join(&task).join("control.sock").exists(), "the start was over when it was killed");
    rig.until("the end of the main process", || rig.survivors().is_empty());
    assert_eq!(std::fs::read_to_string(rig.mark("runs")).unwrap(), "run\n");
    assert_eq!((rig.records().len(), rig.host.counts(None).running), (2, 0));
    assert_eq!(rig.run(&["true"]).await["exitCode"], 0);
}
