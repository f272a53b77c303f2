//! Nothing grows with the number of commands that are over.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::rig::{Rig, children, descriptors, holds_within, is_alive, is_alone, own_pid, signal, threads};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_host_nor_warden_keeps_descriptors_threads_or_zombies_of_settled_commands() {
    if !is_alone("growth::neither_host_nor_warden_keeps_descriptors_threads_or_zombies_of_settled_commands") {
        return;
    }
    let rig = Rig::new();
    let lost = "setsid sleep 100 & kill -9 $PPID; sleep 100";
    let round = async || {
        for script in ["exit 0", "setsid sleep 100 & exit 1", lost, "kill -9 $$"] {
            rig.run_sh(script).await;
        }
        rig.run(&["no-such-program"]).await;
        let task = rig.start_with(&["yes"], json!({ "maxOutputBytes": 1000 })).await;
        rig.wait(&task).await;
    };
    round().await;
    let warden = rig.warden().await;
    let measure = || {
        // Whoever has just ended is being reaped at this moment.
        rig.until("the last keeper's end", || is_at_rest(warden));
        rig.at_rest(|| [descriptors(own_pid()), threads(own_pid()), descriptors(warden), threads(warden)])
    };
    let before = measure();
    for _ in 0..12 {
        round().await;
    }
    assert_eq!(measure(), before, "host descriptors, host threads, warden descriptors, warden threads");
    assert_eq!(rig.warden().await, warden);
    assert_eq!(children(own_pid()), [warden], "the host has other children, ended or not");
    assert_eq!(rig.records().len(), 13 * 6);
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wardens_that_were_killed_leave_neither_zombies_nor_descriptors_in_the_host() {
    if !is_alone("growth::wardens_that_were_killed_leave_neither_zombies_nor_descriptors_in_the_host") {
        return;
    }
    let rig = Rig::new();
    rig.run(&["true"]).await;
    let before = rig.at_rest(|| descriptors(own_pid()));
    for _ in 0..10 {
        let warden = rig.warden().await;
        crate::rig::signal(warden, nix::sys::signal::Signal::SIGKILL);
        rig.until("its burial", || children(own_pid()).is_empty());
        rig.run(&["true"]).await;
    }
    rig.until("as many descriptors as before", || descriptors(own_pid()) == before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_at_once_all_end_and_leave_nothing() {
    if !is_alone("growth::a_hundred_at_once_all_end_and_leave_nothing") {
        return;
    }
    let rig = Rig::new();
    rig.run(&["true"]).await;
    let warden = rig.warden().await;
    rig.until("the first keeper's end", || is_at_rest(warden));
    let before = rig.at_rest(|| [descriptors(own_pid()), descriptors(warden)]);
    for _ in 0..100 {
        rig.start(&["sh", "-c", "setsid sleep 100 & sleep 100"]).await;
    }
    assert_eq!(rig.host.counts(None).running, 100);
    assert_eq!(rig.host.kill_all().await, 100);
    rig.assert_gone();
    rig.until("the keepers' ends", || is_at_rest(warden));
    rig.until("as many descriptors as before", || [descriptors(own_pid()), descriptors(warden)] == before);
}

/// Whether a warden has no child, and none that was forked ahead when another one ended, while that was looked for.
fn is_at_rest(warden: i32) -> bool {
    children(warden).is_empty() && children(warden).is_empty()
}

/// Runs a command, and gives the process of its keeper.
async fn keeper_of_one(rig: &Rig) -> i32 {
    let status = rig.run_sh("echo $PPID").await;
    let told = rig.file(status["taskId"].as_str().unwrap(), "stdout");
    String::from_utf8(told).unwrap().trim().parse().unwrap()
}

/// Runs commands until a keeper is found that was forked ahead after one of them.
async fn forked_ahead(rig: &Rig, warden: i32) -> i32 {
    for _ in 0..100 {
        let keeper = keeper_of_one(rig).await;
        let other = || children(warden).into_iter().find(|&pid| pid != keeper && is_alive(pid));
        let mut found = None;
        holds_within(Duration::from_millis(500), || {
            found = other();
            found.is_some()
        });
        if let Some(spare) = found {
            return spare;
        }
    }
    panic!("no keeper is forked ahead\n{}", rig.evidence());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_is_forked_ahead_for_the_next_command_and_goes_when_none_comes() {
    let rig = Rig::new();
    rig.run(&["true"]).await;
    let warden = rig.warden().await;
    // One that isn't needed soon is gone again: on a busy machine that takes more than one try.
    let mut used = false;
    for _ in 0..20 {
        let spare = forked_ahead(&rig, warden).await;
        used = keeper_of_one(&rig).await == spare;
        if used {
            break;
        }
    }
    assert!(used, "no command got the keeper that was forked ahead");
    rig.until("the end of the one that is not needed", || is_at_rest(warden));
    assert_eq!(rig.warden().await, warden);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_forked_ahead_that_is_killed_or_stopped_is_not_missed() {
    let rig = Rig::new();
    rig.run(&["true"]).await;
    let warden = rig.warden().await;
    for deed in [Signal::SIGKILL, Signal::SIGSTOP, Signal::SIGTERM] {
        let spare = forked_ahead(&rig, warden).await;
        signal(spare, deed);
        // One that dies with the command just in its hands is a keeper that was killed.
        rig.until("its end", || deed != Signal::SIGKILL || !is_alive(spare));
        let status = rig.run_sh("echo out; exit 3").await;
        assert_eq!(
            (&status["cause"], &status["exitCode"]),
            (&json!("exit"), &json!(3)),
            "{deed}: {status:#}"
        );
    }
    rig.until("the keepers' ends", || children(warden).is_empty());
    assert_eq!(rig.warden().await, warden);
}
