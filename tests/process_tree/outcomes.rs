//! What users of other runners reported, and what the runner before this one was tested for: input → what is right.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::rig::{Rig, is_alone};

/// The named fields of a status, absent ones as null.
fn fields(status: &Json, names: &[&str]) -> Json {
    names.iter().map(|name| status.get(*name).cloned().unwrap_or(Json::Null)).collect()
}

const END: &[&str] = &["state", "cause", "exitCode", "signal"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_returns_before_the_command_is_done_and_polling_sees_the_end() {
    let rig = Rig::new();
    let task = rig.sh("while [ ! -e $MARKS/go ]; do sleep 0.02; done; echo done").await;
    let running = rig.status(&task);
    assert_eq!(fields(&running, &["state", "cause", "settledAt"]), json!(["running", null, null]));
    assert_eq!(running["tailPreview"], "(no output yet)");
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.until("the settled status", || rig.status(&task)["state"] == "exited");
    let status = rig.status(&task);
    assert_eq!(fields(&status, END), json!(["exited", "exit", 0, null]));
    assert_eq!(status["stdoutBytes"], 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_an_end_is_told_nothing_more_is_made_in_the_vault() {
    let rig = Rig::new();
    for _ in 0..20 {
        rig.run(&["true"]).await;
        assert!(rig.vault().join(".next/stderr").exists(), "the next folder is not there yet");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nonzero_exit_is_data() {
    let rig = Rig::new();
    for code in [1, 2, 77, 126, 127, 128, 255] {
        let status = rig.run_sh(&format!("exit {code}")).await;
        assert_eq!(fields(&status, END), json!(["exited", "exit", code, null]));
        assert!(status.get("error").is_none(), "{status:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_program_settles_as_start_failed_with_two_empty_streams() {
    let rig = Rig::new();
    let status = rig.run(&["no-such-program"]).await;
    assert_eq!(fields(&status, END), json!(["exited", "start-failed", null, null]));
    assert!(status["error"].as_str().unwrap().contains("could not be started"), "{status:#}");
    assert_eq!(fields(&status, &["stdoutBytes", "stderrBytes", "strays"]), json!([0, 0, 0]));
    assert_eq!(rig.records().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_is_over_leaves_the_command_alone() {
    let rig = Rig::new();
    let task = rig.sh("sleep 100").await;
    let waited = rig.host.wait(&task, Some(Duration::from_millis(30)), argvault::host::Cancel::never()).await;
    assert_eq!(serde_json::to_value(waited.unwrap()).unwrap()["state"], "running");
    let (sender, cancel) = argvault::host::Cancel::new();
    sender.send_replace(true);
    let waited = rig.host.wait(&task, None, cancel).await;
    assert_eq!(serde_json::to_value(waited.unwrap()).unwrap()["state"], "running");
    assert_eq!(fields(&rig.kill(&task, "SIGTERM").await, END), json!(["killed", "kill", null, "SIGTERM"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_with_a_loop_in_the_background_settles_within_the_grace() {
    let rig = Rig::with(&json!({ "killGraceMs": 5000 }));
    let argv = ["sh", "-c", "(while :;do echo x;sleep 1;done)& sleep 60"];
    let begun = Instant::now();
    let task = rig.start_with(&argv, json!({ "timeoutMs": 1000 })).await;
    let status = rig.wait(&task).await;
    assert_eq!(fields(&status, &["state", "cause"]), json!(["timeout", "timeout"]));
    assert!(begun.elapsed() < Duration::from_secs(6));
    assert!(status["error"].as_str().unwrap().contains("exceeded its 1000ms budget"), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_leaves_the_exit_known_at_once_and_is_ended_and_counted() {
    let rig = Rig::with(&json!({ "strayGraceMs": 1500 }));
    let task = rig.start(&["sh", "-c", "setsid sleep 100 &"]).await;
    rig.until("the main exit", || rig.status(&task).get("mainExit").is_some());
    assert_eq!(fields(&rig.status(&task), &["state"]), json!(["running"]), "the stray grace is cut short");
    let status = rig.wait(&task).await;
    assert_eq!(fields(&status, END), json!(["exited", "exit", 0, null]));
    assert_eq!(fields(&status, &["strays", "strayNames"]), json!([1, ["sleep"]]));
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_stray_writes_within_its_grace_is_kept() {
    let rig = Rig::with(&json!({ "strayGraceMs": 10_000 }));
    let status = rig.run(&["sh", "-c", "(sleep .3; echo tail)& echo head"]).await;
    assert_eq!(rig.stdout(&status), b"head\ntail\n");
    assert_eq!(fields(&status, &["state", "exitCode", "strays"]), json!(["exited", 0, 0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_code_a_message_and_a_stray_are_all_three_told() {
    let rig = Rig::new();
    let status = rig.run(&["sh", "-c", "sleep 100 & echo why >&2; exit 1"]).await;
    assert_eq!(fields(&status, &["state", "cause", "exitCode", "strays"]), json!(["exited", "exit", 1, 1]));
    assert_eq!(rig.stderr(&status), b"why\n");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_word_before_an_exit_is_never_lost() {
    let rig = Rig::new();
    for _ in 0..10 {
        // Many at once, so that keepers and programs meet in every order.
        let mut tasks = Vec::new();
        for _ in 0..20 {
            tasks.push(rig.start(&["sh", "-c", "echo boom >&2; exit 1"]).await);
        }
        for task in tasks {
            let status = rig.wait(&task).await;
            assert_eq!(rig.stderr(&status), b"boom\n", "{status:#}");
            assert_eq!(fields(&status, &["stderrBytes", "exitCode", "strays"]), json!([5, 1, 0]));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bytes_of_a_character_that_comes_in_two_writes_stay_together() {
    let rig = Rig::new();
    let status = rig.run(&["sh", "-c", r"printf '\342'; sleep .2; printf '\211\244'"]).await;
    assert_eq!(rig.stdout(&status), [0xe2, 0x89, 0xa4]);
    assert!(status["tailPreview"].as_str().unwrap().contains('≤'), "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_kept_to_the_cap_exactly_and_the_host_does_not_grow() {
    if !is_alone("outcomes::a_flood_is_kept_to_the_cap_exactly_and_the_host_does_not_grow") {
        return;
    }
    let rig = Rig::with(&json!({ "maxOutputBytes": 96 << 20 }));
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        let line = text.lines().find(|line| line.starts_with("Anonymous:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    rig.run(&["true"]).await;
    let before = resident();
    let status = rig.run(&["head", "-c", "256M", "/dev/zero"]).await;
    assert_eq!(
        fields(&status, &["state", "cause", "stdoutBytes"]),
        json!(["output-limit", "output-limit", 96 << 20])
    );
    assert_eq!(rig.stdout(&status).len(), 96 << 20);
    let grown = resident().saturating_sub(before);
    // The line above reads the file into this process; the allocator has given it back.
    assert!(grown < 8 * 1024, "the host grew by {grown} KiB");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filling_the_cap_is_an_exit_and_one_byte_more_is_an_output_limit_however_fast_the_program_ends() {
    let rig = Rig::new();
    for round in 0..40 {
        for (size, end) in
            [(70_000, json!(["exited", "exit"])), (70_001, json!(["output-limit", "output-limit"]))]
        {
            let size = size.to_string();
            let task = rig
                .start_with(&["head", "-c", &size, "/dev/zero"], json!({ "maxOutputBytes": 70_000 }))
                .await;
            let status = rig.wait(&task).await;
            assert_eq!(fields(&status, &["state", "cause"]), end, "round {round}: {status:#}");
            assert_eq!(status["stdoutBytes"], 70_000);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_of_its_own_is_told_and_is_never_an_exit_code() {
    let rig = Rig::new();
    for name in ["KILL", "SEGV", "TERM", "ABRT", "PIPE", "USR1"] {
        let status = rig.run(&["sh", "-c", &format!("kill -s {name} $$; sleep 100")]).await;
        assert_eq!(
            fields(&status, END),
            json!(["killed", "signal", null, format!("SIG{name}")]),
            "{status:#}"
        );
    }
    let status = rig.run(&["sh", "-c", "kill -9 $$"]).await;
    assert_eq!(fields(&status, END), json!(["killed", "signal", null, "SIGKILL"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ignores_sigterm_is_killed_after_the_grace_of_its_budget() {
    let rig = Rig::with(&json!({ "killGraceMs": 200 }));
    let task =
        rig.start_with(&["sh", "-c", "trap '' TERM; sleep 60; sleep 60"], json!({ "timeoutMs": 1000 })).await;
    let status = rig.wait(&task).await;
    assert_eq!(fields(&status, END), json!(["timeout", "timeout", null, "SIGKILL"]));
    assert!(status["error"].as_str().unwrap().contains("SIGKILL after 200ms"), "{status:#}");
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_is_read_to_its_end_and_one_that_nobody_reads_harms_nobody() {
    let rig = Rig::new();
    let large = "x".repeat(1 << 20);
    let task = rig.start_with(&["cat"], json!({ "input": large })).await;
    let status = rig.wait(&task).await;
    assert_eq!((rig.stdout(&status), &status["exitCode"]), (large.clone().into_bytes(), &json!(0)));
    let task = rig.start_with(&["true"], json!({ "input": large })).await;
    assert_eq!(fields(&rig.wait(&task).await, END), json!(["exited", "exit", 0, null]));
    assert_eq!(rig.run(&["cat"]).await["stdoutBytes"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_is_announced_once_for_each_command_and_counted_until_it_is_looked_at() {
    let rig = Rig::new();
    for _ in 0..50 {
        rig.run(&["true"]).await;
        assert_eq!(rig.host.counts(None).running, 0);
        assert_eq!(rig.host.counts(None).finished, 0, "a wait looks at what it waited for");
    }
    rig.until("the announcements", || rig.announced.lock().unwrap().len() >= 50);
    let task = rig.start(&["true"]).await;
    rig.until("the end", || rig.host.counts(None).running == 0);
    assert_eq!(rig.host.counts(None).finished, 1);
    rig.status(&task);
    assert_eq!(rig.host.counts(None).finished, 0);
    rig.until("the last announcement", || rig.announced.lock().unwrap().len() == 51);
}
