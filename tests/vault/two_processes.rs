//! Two processes on one vault. The other one is this test binary again, told by its environment what to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use argvault::host::Cancel;
use argvault::input::Value;
use argvault::os::process;
use argvault::os::signal::SignalNumber;
use serde_json::json;

use crate::place::{CEILING, Place, code, eventually, json, open, settled, start, status, value};

const VAULT: &str = "ARGVAULT_TEST_VAULT";
const PART: &str = "ARGVAULT_TEST_PART";

struct Other {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn begin(place: &Place, part: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "two_processes::the_other_process", "--ignored", "--nocapture"])
            .env(VAULT, place.dir.path())
            .env(PART, part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that it says to us; the test harness says others.
    fn says(&mut self) -> Vec<String> {
        loop {
            let line = self.lines.next().expect("the other process ended").unwrap();
            if let Some((_, words)) = line.split_once("! ") {
                return words.split(' ').map(str::to_owned).collect();
            }
        }
    }

    /// Its wardens: children of its own, whichever thread started them.
    fn wardens(&self) -> Vec<i32> {
        let children = process::children(self.child.id().cast_signed()).unwrap();
        children.into_iter().filter(|&pid| process::name(pid).as_deref() == Some("argvault-warden")).collect()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(words: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "! {words}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "the other process of the tests here, which start it"]
fn the_other_process() {
    let Some(dir) = std::env::var_os(VAULT).map(PathBuf::from) else { return };
    let part = std::env::var(PART).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let host = open(&dir.join("vault"), &dir.join("root"), &json!({}), &json!({ "maxConcurrent": 1 }));
        if part == "many" {
            for _ in 0..1_000 {
                let task = start(&host, "echo out; echo err >&2").await.unwrap();
                say(&task);
            }
            return;
        }
        let over = start(&host, "echo over").await.unwrap();
        settled(&host, &over).await;
        let running = start(&host, "echo ready; exec sleep 600").await.unwrap();
        let queued = start(&host, "echo never").await.unwrap();
        eventually("output", || status(&host, &running)["stdoutBytes"] == 6).await;
        say(&format!("{over} {running} {queued}"));
        let ended = settled(&host, &running).await;
        say(&format!("{} {}", ended["state"].as_str().unwrap(), ended["cause"].as_str().unwrap()));
        let ended = settled(&host, &queued).await;
        say(ended["state"].as_str().unwrap());
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_killed_in_the_middle_leaves_all_to_the_other() {
    let place = Place::new();
    let host = place.host();
    let own = start(&host, "echo own; exec sleep 600").await.unwrap();
    let mut other = Other::begin(&place, "three");
    let [over, running, queued] = &other.says()[..] else { panic!("not three") };

    let listed = json(&host.list(&Value::Absent).unwrap());
    assert_eq!(listed["commands"].as_array().unwrap().len(), 4);
    assert_eq!(status(&host, over)["state"], "exited");
    assert_eq!(status(&host, running)["state"], "running");
    assert_eq!(status(&host, queued)["state"], "queued");
    let still = host.wait(running, Some(Duration::ZERO), Cancel::never()).await.unwrap();
    assert_eq!(json(&still)["state"], "running");
    let refusal = host.kill(queued, SignalNumber::TERM).await.unwrap_err();
    assert_eq!(refusal.to_wire().code, "ERR_KEEPER");
    assert!(refusal.to_string().contains("waits for its turn in process"), "{refusal}");
    assert_eq!(json(&host.read_output(running, &Value::Absent).unwrap())["content"], "ready\n");
    let all = value(json!({ "olderThanMs": 3_600_000, "maxBytes": 1_000_000_000 }));
    assert_eq!(json(&host.cleanup(&all).unwrap())["removed"], 0);

    let follower = host.follow(running, &Value::Absent).unwrap();
    assert_eq!(host.follow_next(follower).await.unwrap().unwrap(), b"ready\n");
    let waiting = [running, queued].map(|task| {
        let (host, task) = (std::sync::Arc::clone(&host), task.clone());
        tokio::spawn(async move { settled(&host, &task).await })
    });
    let [warden] = other.wardens()[..] else { panic!("not one warden") };
    other.kill();
    let last = tokio::time::timeout(CEILING, host.follow_next(follower)).await;
    assert_eq!(last.expect("the follower never ended").unwrap(), None);
    let [ran, waited] = waiting;
    let (ran, waited) = (ran.await.unwrap(), waited.await.unwrap());
    assert_eq!((&ran["state"], &ran["cause"]), (&json!("killed"), &json!("host-gone")));
    assert_eq!((&waited["state"], &waited["cause"]), (&json!("killed"), &json!("host-gone")));
    assert!(waited["error"].as_str().unwrap().contains("nothing ran"), "{waited}");
    assert_eq!(host.read_artifact(&format!("{over}-stdout")).unwrap().unwrap(), "over\n");

    eventually("the end of the other's warden", || process::stat(warden).is_none_or(|stat| stat.ended)).await;

    let cleaned = json(&host.cleanup(&value(json!({ "maxBytes": 0 }))).unwrap());
    assert_eq!(cleaned["removed"], 3);
    assert_eq!(place.names(), [&*own]);
    assert_eq!(status(&host, &own)["state"], "running");
    let ended = json(&host.kill(&own, SignalNumber::TERM).await.unwrap());
    assert_eq!((&ended["cause"], &ended["stdoutBytes"]), (&json!("kill"), &json!(4)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_reaches_the_other_processes_command_and_the_queue_goes_on_there() {
    let place = Place::new();
    let host = place.host();
    let mut other = Other::begin(&place, "three");
    let [_, running, queued] = &other.says()[..] else { panic!("not three") };
    let status = json(&host.kill(running, SignalNumber::TERM).await.unwrap());
    assert_eq!((&status["state"], &status["cause"]), (&json!("killed"), &json!("kill")));
    assert_eq!(status["signal"], "SIGTERM");
    assert_eq!(other.says(), ["killed", "kill"]);
    assert_eq!(other.says(), ["exited"]);
    assert_eq!(settled(&host, queued).await["stdoutBytes"], 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_every_command_has_an_end_that_is_true() {
    for round in 1..=5 {
        let place = Place::new();
        let mut other = Other::begin(&place, "many");
        let mut told = Vec::new();
        for _ in 0..round * 3 {
            told.extend(other.says());
        }
        other.kill();
        let host = place.host();
        for task in &told {
            let status = settled(&host, task).await;
            match status["cause"].as_str().unwrap() {
                "exit" => {
                    assert_eq!((&status["stdoutBytes"], &status["stderrBytes"]), (&json!(4), &json!(4)));
                }
                "host-gone" => {}
                other => panic!("{other}: {status}"),
            }
            let read = host.read_artifact(&format!("{task}-stdout")).unwrap().unwrap();
            assert_eq!(status["stdoutBytes"], read.len());
        }
        // One more may have been on its way: whatever is there can be told, and goes.
        let listed = json(&host.list(&Value::Absent).unwrap());
        for command in listed["commands"].as_array().unwrap() {
            settled(&host, command["taskId"].as_str().unwrap()).await;
        }
        let more = start(&host, "echo on").await.unwrap();
        assert_eq!(settled(&host, &more).await["state"], "exited");
        host.cleanup(&value(json!({ "maxBytes": 0 }))).unwrap();
        assert!(place.names().len() <= 1, "{:?}", place.names());
        assert_eq!(code(host.status(&more)), "ERR_UNKNOWN_TASK");
    }
}
