//! Several ends at once give one outcome: the first cause.

use serde_json::json;

use argvault::os::signal::SignalNumber;

use crate::rig::Rig;

/// Ends a flooding, deaf tree from every side at once, with the moments shifted a little from round to round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_a_budget_an_abort_and_a_cap_give_one_outcome() {
    let rig = Rig::with(&json!({ "killGraceMs": 50 }));
    for round in 0..25_u64 {
        let argv = ["sh", "-c", "trap '' TERM; (sleep 0.05; exec yes) & sleep 100; sleep 100"];
        let options = json!({ "timeoutMs": 40 + round, "maxOutputBytes": 1000 + round * 4096 });
        let task = rig.start_with(&argv, options).await;
        let killing = {
            let (host, task) = (rig.host.clone(), task.clone());
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(30 + round)).await;
                host.abort(&task);
                host.kill(&task, SignalNumber::TERM).await
            })
        };
        let waited = rig.wait(&task).await;
        let killed = serde_json::to_value(killing.await.unwrap().unwrap()).unwrap();
        assert_eq!(waited, killed);
        assert_eq!(waited, rig.status(&task));
        let cause = waited["cause"].as_str().unwrap();
        assert!(["kill", "abort", "timeout", "output-limit"].contains(&cause), "{waited:#}");
        let (record, recorded) = rig.records().pop().unwrap();
        assert_eq!((record, recorded["cause"].as_str().unwrap()), (task.clone(), cause));
        rig.assert_gone();
        rig.until("the announcement", || rig.announced.lock().unwrap().len() as u64 == round + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_kill_cuts_the_grace_short_and_the_first_cause_stays() {
    let rig = Rig::with(&json!({ "killGraceMs": 20_000 }));
    let task = rig
        .sh("trap 'echo ok > $MARKS/termed' TERM; echo ok > $MARKS/up; while :; do sleep 0.05; done")
        .await;
    rig.marked("up");
    rig.host.abort(&task);
    rig.marked("termed");
    let status = rig.kill(&task, "SIGKILL").await;
    assert_eq!((&status["cause"], &status["signal"]), (&json!("abort"), &json!("SIGKILL")), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_wait_and_kill_get_the_same_answer() {
    let rig = Rig::new();
    let task = rig.sh("sleep 100").await;
    let calls: Vec<_> = (0..16)
        .map(|at| {
            let (host, task) = (rig.host.clone(), task.clone());
            tokio::spawn(async move {
                if at % 2 == 0 {
                    host.wait(&task, None, argvault::host::Cancel::never()).await
                } else {
                    host.kill(&task, SignalNumber::TERM).await
                }
            })
        })
        .collect();
    let first = rig.wait(&task).await;
    for call in calls {
        assert_eq!(serde_json::to_value(call.await.unwrap().unwrap()).unwrap(), first);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_the_very_moment_of_the_exit_gives_one_of_the_two_and_never_hangs() {
    let rig = Rig::new();
    for _ in 0..60 {
        let task = rig.start(&["true"]).await;
        let status = rig.kill(&task, "SIGTERM").await;
        assert!(["exit", "kill"].contains(&status["cause"].as_str().unwrap()), "{status:#}");
    }
    assert_eq!(rig.host.counts(None).finished, 0);
    assert_eq!(rig.records().len(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_the_very_moment_of_its_turn_is_not_lost() {
    let rig = Rig::with(&json!({ "maxConcurrent": 1 }));
    for _ in 0..25 {
        let first = rig.start(&["true"]).await;
        let queued = rig.sh("sleep 100").await;
        let status = rig.kill(&queued, "SIGTERM").await;
        assert_eq!(status["cause"], "kill", "{status:#}");
        rig.wait(&first).await;
    }
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queued_command_that_is_told_to_end_together_with_the_running_one_never_runs() {
    let rig = Rig::with(&json!({ "maxConcurrent": 1 }));
    for round in 0..20 {
        rig.sh("sleep 100").await;
        let queued: Vec<String> =
            [rig.sh(&format!("echo ran > $MARKS/{round}")).await, rig.sh("echo ran > $MARKS/second").await]
                .into();
        assert_eq!(rig.host.kill_all().await, 3);
        for task in &queued {
            let status = rig.status(task);
            assert_eq!(status["cause"], "kill-all", "{status:#}");
            assert!(status.get("mainExit").is_none(), "{status:#}");
        }
        assert!(!rig.mark(&round.to_string()).exists());
    }
    rig.assert_gone();
}
