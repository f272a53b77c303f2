//! A host that is gone takes its commands along, whatever it died of.

use argvault::input::Value;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value as Json, json};

use crate::fixtures::{BACKGROUND_LOOP, COMET, DAEMON, DEAF, STOPPED};
use crate::hosted::{Hosted, Setting};
use crate::rig::{Place, Rig, is_stopped, signal};

const GRACE_MS: u64 = 300;
/// A second after the grace is what is promised; the rest is for a machine that has other things to do.
const BOUND: Duration = Duration::from_millis(GRACE_MS + 1000 + 3000);

fn live_host(place: &Place, end: &str) -> Hosted {
    let trees = [BACKGROUND_LOOP, DAEMON, DEAF, STOPPED, COMET].map(|fixture| fixture.argv);
    let host =
        place.host(&json!({ "do": "live", "start": trees, "end": end }), &json!({}), &Setting::default());
    place.marked("host");
    for mark in ["up", "daemon", "stopped"] {
        place.marked(mark);
    }
    host
}

fn assert_all_host_gone(place: &Place, since: Instant) {
    place.until("the ends of all trees", || place.survivors().is_empty());
    assert!(since.elapsed() < BOUND, "{:?}\n{}", since.elapsed(), place.evidence());
    place.until("five records", || place.records().len() == 5);
    for (task, record) in place.records() {
        assert_eq!(record["cause"], "host-gone", "{task}: {record:#}");
        assert!(
            record["error"].as_str().unwrap().contains("the process that started it is gone"),
            "{record:#}"
        );
    }
}

#[test]
fn a_host_that_is_killed_takes_its_trees_along() {
    let place = Place::default();
    let host = live_host(&place, "wait");
    signal(host.pid(), Signal::SIGKILL);
    assert_all_host_gone(&place, Instant::now());
}

#[test]
fn a_host_that_is_terminated_takes_its_trees_along() {
    let place = Place::default();
    let host = live_host(&place, "wait");
    signal(host.pid(), Signal::SIGTERM);
    assert_all_host_gone(&place, Instant::now());
}

#[test]
fn a_host_that_is_stopped_and_then_killed_takes_its_trees_along() {
    let place = Place::default();
    let host = live_host(&place, "wait");
    signal(host.pid(), Signal::SIGSTOP);
    place.until("the stop", || is_stopped(host.pid()));
    signal(host.pid(), Signal::SIGKILL);
    assert_all_host_gone(&place, Instant::now());
}

#[test]
fn a_host_that_exits_panics_or_aborts_takes_its_trees_along() {
    for end in ["exit", "panic", "abort"] {
        let place = Place::default();
        let mut host = live_host(&place, end);
        std::fs::write(place.mark("end"), "").unwrap();
        place.until("the host's end", || host.0.try_wait().unwrap().is_some());
        assert_all_host_gone(&place, Instant::now());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_host_reads_what_a_dead_one_left() {
    let place = Place::default();
    let start = ["sh", "-c", "echo last words; echo ok > $MARKS/up; sleep 100"];
    let act = json!({ "do": "live", "start": [start], "end": "wait" });
    let host = place.host(&act, &json!({}), &Setting::default());
    place.marked("up");
    place.marked("host");
    signal(host.pid(), Signal::SIGKILL);
    place.until("the record", || place.records().len() == 1);
    let rig = Rig::at(place, std::path::Path::new(crate::rig::WARDEN), &json!({}));
    let status = rig.status(&rig.records()[0].0);
    let seen: Json = ["state", "cause", "stdoutBytes"].iter().map(|name| status[*name].clone()).collect();
    assert_eq!(seen, json!(["killed", "host-gone", 11]), "{status:#}");
    rig.assert_gone();
}

#[test]
fn a_host_that_floods_its_vault_and_is_killed_leaves_a_file_within_the_cap() {
    let place = Place::default();
    let act = json!({ "do": "live", "start": [["yes"]], "end": "wait" });
    let host = place.host(&act, &json!({ "maxOutputBytes": 200_000_000 }), &Setting::default());
    place.marked("host");
    signal(host.pid(), Signal::SIGKILL);
    place.until("the end", || place.survivors().is_empty() && place.records().len() == 1);
    let (task, record) = place.records().remove(0);
    let size = std::fs::metadata(place.vault().join(task).join("stdout")).unwrap().len();
    assert!(size <= 200_000_000);
    assert_eq!(record["stdoutBytes"], size);
}

#[test]
fn the_warden_and_the_keepers_of_a_dead_host_leave_too() {
    let place = Place::default();
    let host = live_host(&place, "wait");
    let wardens = crate::rig::children(host.pid());
    let keepers: Vec<i32> = wardens.iter().flat_map(|&pid| crate::rig::children(pid)).collect();
    assert_eq!((wardens.len(), keepers.len()), (1, 5));
    signal(host.pid(), Signal::SIGKILL);
    let theirs: Vec<i32> = wardens.into_iter().chain(keepers).collect();
    place.until("their ends", || theirs.iter().all(|&pid| !crate::rig::is_alive(pid)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_environment_that_ends_takes_its_own_commands_along_and_nobody_elses() {
    let rig = Rig::new();
    let other = crate::rig::new_host(&rig.vault(), &rig.supervisor, &rig.announced);
    other.set_policy(&Value::from(crate::rig::policy(&json!({}))), &rig.env_value()).unwrap();
    let argv = Value::from(json!(["sh", "-c", "echo $$ > $MARKS/other; exec sleep 100"]));
    let never = argvault::host::Cancel::never();
    other.start(other.policy(), argv, Value::from(json!({})), rig.env_value(), never).await.unwrap();
    let others = rig.marked_pid("other");
    let task = rig.start(DAEMON.argv).await;
    rig.marked("daemon");
    rig.host.abandon();
    let status = rig.wait(&task).await;
    assert_eq!(status["cause"], "host-gone");
    rig.until("the end of one tree", || rig.survivors() == [others]);
    assert_eq!(other.kill_all().await, 1);
    rig.assert_gone();
    assert_eq!(rig.try_start(&["true"], json!({})).await.unwrap_err().0, "ERR_DISPOSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disposed_host_has_ended_everything_and_starts_nothing_more() {
    let rig = Rig::with(&json!({ "maxConcurrent": 2 }));
    let running = rig.start(DAEMON.argv).await;
    rig.marked("daemon");
    rig.start(DEAF.argv).await;
    let queued = rig.sh("echo never").await;
    rig.host.dispose().await;
    rig.assert_gone();
    assert_eq!(rig.status(&running)["cause"], "kill-all");
    let status = rig.status(&queued);
    assert_eq!((&status["cause"], &status["stdoutBytes"]), (&json!("kill-all"), &json!(0)), "{status:#}");
    assert_eq!(rig.try_start(&["true"], json!({})).await.unwrap_err().0, "ERR_DISPOSED");
    assert_eq!(rig.records().len(), 3);
}
