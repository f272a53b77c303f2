//! Whole trees end: by kill, by budget, by disposal, whatever they do against it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixtures::{self, ALL, Fixture};
use crate::rig::{Rig, children, is_stopped, signal};

async fn started(rig: &Rig, fixture: Fixture) -> String {
    let task = rig.start(fixture.argv).await;
    for mark in fixture.marks {
        rig.marked(mark);
    }
    task
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_ends_every_kind_of_tree() {
    for &(name, fixture) in ALL {
        let rig = Rig::new();
        let task = started(&rig, fixture).await;
        let status = rig.kill(&task, "SIGTERM").await;
        let flooded = status["cause"] == "output-limit"; // a flood may fill its cap before the kill arrives
        let killed = (&status["state"], &status["cause"]) == (&json!("killed"), &json!("kill"));
        assert!(killed || flooded && name == "flood", "{name}: {status:#}");
        rig.assert_gone();
        assert_eq!(rig.records().len(), 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_ends_every_kind_of_tree() {
    for &(name, fixture) in ALL {
        let rig = Rig::new();
        let task = rig.start_with(fixture.argv, json!({ "timeoutMs": 400 })).await;
        let status = rig.wait(&task).await;
        let flooded = status["cause"] == "output-limit"; // a flood may fill its cap before its budget is over
        assert!(flooded || status["cause"] == "timeout", "{name}: {status:#}");
        rig.assert_gone();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_all_ends_every_kind_of_tree_at_once() {
    // A flood may have ended by its cap before.
    let lasting: Vec<_> = ALL.iter().filter(|(name, _)| *name != "flood").collect();
    let rigs: Vec<Rig> = lasting.iter().map(|_| Rig::new()).collect();
    for (rig, (_, fixture)) in rigs.iter().zip(lasting) {
        started(rig, *fixture).await;
    }
    for rig in &rigs {
        assert_eq!(rig.host.kill_all().await, 1);
        rig.assert_gone();
        assert_eq!(rig.records()[0].1["cause"], "kill-all");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_process_ends_with_the_first_signal_and_not_after_the_grace() {
    let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
    let task = started(&rig, fixtures::STOPPED).await;
    let stopped = rig.marked_pid("stopped");
    rig.until("the stop", || is_stopped(stopped));
    let begun = Instant::now();
    let status = rig.kill(&task, "SIGTERM").await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{status:#}");
    assert!(!status["error"].as_str().unwrap().contains("SIGKILL"), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_main_process_ends_with_the_first_signal() {
    let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
    let task = rig.sh("echo $$ > $MARKS/main; kill -s STOP $$; sleep 100").await;
    let main = rig.marked_pid("main");
    rig.until("the stop", || is_stopped(main));
    let begun = Instant::now();
    rig.kill(&task, "SIGTERM").await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_that_ignores_everything_is_killed_after_the_grace_and_the_error_says_so() {
    let rig = Rig::with(&json!({ "killGraceMs": 250 }));
    let task = started(&rig, fixtures::DEAF).await;
    let begun = Instant::now();
    let status = rig.kill(&task, "SIGTERM").await;
    assert!(begun.elapsed() >= Duration::from_millis(250), "no grace was given");
    let error = status["error"].as_str().unwrap();
    assert!(error.contains("was killed with SIGTERM") && error.contains("SIGKILL after 250ms"), "{error}");
    assert_eq!(status["signal"], "SIGKILL");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_with_sigkill_needs_no_grace() {
    let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
    let task = started(&rig, fixtures::DEAF).await;
    let begun = Instant::now();
    let status = rig.kill(&task, "SIGKILL").await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{status:#}");
    assert_eq!(status["error"], "was killed with SIGKILL");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_signal_reaches_the_program_under_its_name() {
    for name in ["SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM", "SIGRTMIN+3", "SIGXCPU"] {
        let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
        let task = rig.sh("echo ok > $MARKS/up; exec sleep 100").await;
        rig.marked("up");
        rig.until("the exec", || rig.survivors().iter().any(|pid| is_sleep(*pid)));
        let status = rig.kill(&task, name).await;
        assert_eq!((&status["cause"], &status["signal"]), (&json!("kill"), &json!(name)), "{status:#}");
        assert!(status.get("exitCode").is_none(), "{status:#}");
        assert_eq!(status["error"], format!("was killed with {name}"));
    }
}

fn is_sleep(pid: i32) -> bool {
    std::fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name == b"sleep\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_may_answer_a_signal_with_an_exit_of_its_own() {
    let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
    let task = rig.sh("trap 'echo bye; exit 7' INT; echo ok > $MARKS/up; while :; do sleep 0.05; done").await;
    rig.marked("up");
    let status = rig.kill(&task, "SIGINT").await;
    assert_eq!(
        (&status["state"], &status["cause"], &status["exitCode"]),
        (&json!("killed"), &json!("kill"), &json!(7))
    );
    assert_eq!(rig.stdout(&status), b"bye\n");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_is_written_after_a_writer_that_ignores_sigterm_is_settled() {
    let rig = Rig::new();
    let task = started(&rig, fixtures::WRITER).await;
    rig.kill(&task, "SIGTERM").await;
    let size = || std::fs::metadata(rig.mark("log")).unwrap().len();
    let at_settlement = size();
    rig.assert_gone();
    // Nothing to wait for: the writer is gone, and this look is later than the settlement.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(size(), at_settlement);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_for_a_settled_task_changes_nothing_and_reaches_nobody() {
    let rig = Rig::new();
    let done = rig.run_sh("exit 3").await;
    let task = done["taskId"].as_str().unwrap();
    let bystander = rig.sh("echo $$ > $MARKS/bystander; sleep 100").await;
    let pid = rig.marked_pid("bystander");
    for name in ["SIGTERM", "SIGKILL", "SIGRTMIN+1"] {
        assert_eq!(rig.kill(task, name).await, done);
    }
    assert!(crate::rig::is_alive(pid));
    assert_eq!(rig.status(&bystander)["state"], "running");
    rig.host.kill_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_process_reaped_by_kill_dash_nine_leaves_no_child_behind() {
    let rig = Rig::new();
    let task = rig.sh("echo $$ > $MARKS/main; sleep 100 & sleep 100 & echo ok > $MARKS/up; wait").await;
    rig.marked("up");
    let main = rig.marked_pid("main");
    rig.until("two children", || children(main).len() == 2);
    signal(main, nix::sys::signal::Signal::SIGKILL);
    let status = rig.wait(&task).await;
    assert_eq!((&status["cause"], &status["signal"]), (&json!("signal"), &json!("SIGKILL")), "{status:#}");
    assert_eq!(status["strays"], 2, "{status:#}");
    rig.assert_gone();
}

#[test]
fn names_that_are_no_signals_are_refused() {
    use argvault::input::Value;
    for name in ["SIGNOPE", "15", "", "SIGRTMIN+99", "sigterm"] {
        let error = argvault::host::read_signal(&Value::Text(name.to_owned())).unwrap_err();
        assert_eq!(error.code().name(), "ERR_BAD_OPTION", "{name}: {error}");
    }
}
