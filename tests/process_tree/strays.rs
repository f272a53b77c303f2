//! What outlives a main process that ended by itself, and what holds its output.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strays_are_counted_and_named_and_the_names_are_bounded() {
    let rig = Rig::new();
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 100 & done; exit 9";
    let status = rig.run_sh(script).await;
    assert_eq!(
        (&status["cause"], &status["exitCode"], &status["strays"]),
        (&json!("exit"), &json!(9), &json!(20))
    );
    assert_eq!(status["strayNames"], json!(vec!["sleep"; 16]));
    assert_eq!(status["mainExit"]["exitCode"], 9, "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_exit_is_told_while_strays_may_still_finish() {
    let rig = Rig::with(&json!({ "strayGraceMs": 20_000 }));
    let task =
        rig.sh("(while [ ! -e $MARKS/go ]; do sleep 0.02; done; echo late) & echo early; exit 2").await;
    rig.until("the main exit", || rig.status(&task).get("mainExit").is_some());
    let status = rig.status(&task);
    assert_eq!(
        (&status["state"], &status["mainExit"]["exitCode"]),
        (&json!("running"), &json!(2)),
        "{status:#}"
    );
    assert!(status.get("exitCode").is_none(), "{status:#}");
    std::fs::write(rig.mark("go"), "").unwrap();
    let status = rig.wait(&task).await;
    assert_eq!((&status["exitCode"], &status["strays"]), (&json!(2), &json!(0)), "{status:#}");
    assert_eq!(rig.stdout(&status), b"early\nlate\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strays_that_can_write_nothing_more_are_not_waited_for() {
    let rig = Rig::with(&json!({ "strayGraceMs": 20_000 }));
    let begun = Instant::now();
    let status = rig.run_sh("setsid sleep 100 > /dev/null 2>&1 & echo out; exit 0").await;
    assert!(begun.elapsed() < Duration::from_secs(10), "the grace was waited for");
    assert_eq!((&status["strays"], &status["exitCode"]), (&json!(1), &json!(0)), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strays_do_not_outlast_the_budget() {
    let rig = Rig::with(&json!({ "strayGraceMs": 60_000 }));
    let begun = Instant::now();
    let task = rig.start_with(&["sh", "-c", "sleep 100 & exit 0"], json!({ "timeoutMs": 700 })).await;
    let status = rig.wait(&task).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(
        (&status["cause"], &status["exitCode"], &status["strays"]),
        (&json!("exit"), &json!(0), &json!(1))
    );
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_while_strays_finish_ends_them_and_the_exit_stays() {
    let rig = Rig::with(&json!({ "strayGraceMs": 60_000 }));
    let task = rig.sh("sleep 100 & exit 8").await;
    rig.until("the main exit", || rig.status(&task).get("mainExit").is_some());
    let status = rig.kill(&task, "SIGTERM").await;
    assert_eq!(
        (&status["cause"], &status["exitCode"], &status["strays"]),
        (&json!("exit"), &json!(8), &json!(1))
    );
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_held_by_a_process_outside_the_tree_does_not_hold_the_settlement() {
    let rig = Rig::new();
    let task =
        rig.sh("echo $$ > $MARKS/main; printf inside; while [ ! -e $MARKS/go ]; do sleep 0.02; done").await;
    let main = rig.marked_pid("main");
    // This process is outside the tree, and now it holds the pipe's write end.
    let held: OwnedFd =
        std::fs::File::options().write(true).open(format!("/proc/{main}/fd/1")).unwrap().into();
    std::fs::write(rig.mark("go"), "").unwrap();
    let status = rig.wait(&task).await;
    assert_eq!(
        (&status["cause"], &status["outputHeldOutside"]),
        (&json!("exit"), &json!(true)),
        "{status:#}"
    );
    assert_eq!(rig.stdout(&status), b"inside");
    // Nobody reads any more: the holder is told so, and nothing is added.
    let late = nix::unistd::write(&held, b"late");
    assert_eq!(late, Err(nix::errno::Errno::EPIPE));
    assert_eq!(rig.stdout(&status), b"inside");
    assert!(rig.run(&["true"]).await.get("outputHeldOutside").is_none());
}
