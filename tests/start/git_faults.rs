//! Questions to git while warden and keeper are stopped or killed under them.

use std::path::{Path, PathBuf};

use argvault::host::Cancel;
use argvault::os::process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value as Json, json};

use crate::support::{CEILING, Rig, environment, eventually, script, value};

/// Answers what is asked before the question itself, and stops at that: a git that never gets done.
const STUCK: &str = "#!/bin/sh\ncase \" $* \" in\n*' --version '*) echo git version 2.47.0;;\n\
                     *' log '*) kill -STOP $$;;\nesac\n";

struct Stuck {
    rig: Rig,
    git: PathBuf,
    _dir: tempfile::TempDir,
}

impl Drop for Stuck {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            signal(pid, Signal::SIGKILL);
        }
    }
}

fn signal(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

impl Stuck {
    /// A host whose git never gets done, on an empty repository.
    fn new() -> Self {
        let rig = Rig::without_policy(json!({}));
        let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(rig.work()).status();
        assert!(made.unwrap().success());
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("git");
        script(&git, STUCK);
        let options = json!({ "repoRoot": rig.work(), "gitExecutable": git });
        rig.host.register_git(&value(options), &environment()).unwrap();
        Self { rig, git, _dir: dir }
    }

    fn ask(&self, cancel: Cancel) -> tokio::task::JoinHandle<Result<Json, argvault::error::Error>> {
        let host = self.rig.host.clone();
        tokio::spawn(async move {
            let params = value(json!(["log"]));
            let answer = tokio::time::timeout(CEILING, host.run_git_command(&params, None, cancel)).await;
            Ok(serde_json::to_value(answer.unwrap_or_else(|_| panic!("git was not answered for"))?).unwrap())
        })
    }

    /// The process that is stuck.
    fn pid(&self) -> Option<i32> {
        process::all().into_iter().map(|stat| stat.pid).find(|&pid| is_stuck(pid, &self.git))
    }

    /// The stuck process and its keeper.
    async fn stuck(&self) -> (i32, i32) {
        let pid = eventually("a git that is stuck", || self.pid()).await;
        (pid, process::stat(pid).unwrap().parent)
    }

    fn records(&self) -> Vec<Json> {
        let folders = std::fs::read_dir(self.rig.vault()).unwrap();
        let texts =
            folders.filter_map(|folder| std::fs::read(folder.unwrap().path().join("record.json")).ok());
        texts.map(|text| serde_json::from_slice(&text).unwrap()).collect()
    }
}

fn is_stuck(pid: i32, git: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    words.contains(&git.as_os_str().as_encoded_bytes())
        && words.contains(&b"log".as_slice())
        && stat.contains(") T ")
}

async fn stopped_warden(rig: &Rig) -> i32 {
    rig.supervisor.warm_up().await;
    let warden = rig.supervisor.warden_pid().await.unwrap().cast_signed();
    signal(warden, Signal::SIGSTOP);
    warden
}

fn assert_killed(answer: &Json) {
    assert_eq!((&answer["ok"], &answer["state"]), (&json!(false), &json!("killed")), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_answers_though_the_warden_was_stopped() {
    let rig = Rig::without_policy(json!({}));
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(rig.work()).status();
    assert!(made.unwrap().success());
    rig.host.register_git(&value(json!({ "repoRoot": rig.work() })), &environment()).unwrap();
    stopped_warden(&rig).await;
    let params = value(json!(["status", "--short"]));
    let answer = rig.host.run_git_command(&params, None, Cancel::never()).await.unwrap();
    assert_eq!(serde_json::to_value(answer).unwrap()["ok"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_git_whose_keeper_is_killed_while_the_warden_is_stopped_is_answered_as_killed() {
    let stuck = Stuck::new();
    let asked = stuck.ask(Cancel::never());
    let (pid, keeper) = stuck.stuck().await;
    stopped_warden(&stuck.rig).await;
    signal(keeper, Signal::SIGKILL);
    assert_killed(&asked.await.unwrap().unwrap());
    eventually("its end", || process::stat(pid).is_none_or(|stat| stat.ended).then_some(())).await;
    assert_eq!(stuck.records()[0]["cause"], "keeper-lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_git_whose_keeper_and_warden_are_both_killed_is_answered_and_recorded_by_the_host() {
    let stuck = Stuck::new();
    let asked = stuck.ask(Cancel::never());
    let (_, keeper) = stuck.stuck().await;
    let warden = stopped_warden(&stuck.rig).await;
    signal(keeper, Signal::SIGKILL);
    signal(warden, Signal::SIGKILL);
    assert_killed(&asked.await.unwrap().unwrap());
    let records = stuck.records();
    assert_eq!((records.len(), &records[0]["cause"]), (1, &json!("keeper-lost")));
    assert!(records[0]["error"].as_str().unwrap().contains("both"), "{records:#?}");
    let counts = stuck.rig.host.counts(None);
    assert_eq!((counts.running, counts.finished), (0, 0));
    assert!(stuck.rig.announced.all().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_git_that_nobody_waits_for_any_more_is_ended() {
    for way in ["cancel", "drop", "dispose"] {
        let stuck = Stuck::new();
        let (sender, cancel) = Cancel::new();
        let asked = stuck.ask(cancel);
        let (pid, _) = stuck.stuck().await;
        assert_eq!(stuck.rig.host.counts(None).running, 0, "{way}");
        match way {
            "cancel" => {
                sender.send_replace(true);
                assert_eq!(asked.await.unwrap().unwrap_err().to_wire().code, "ERR_ABORTED");
            }
            "drop" => asked.abort(),
            _ => {
                stuck.rig.host.dispose().await;
                assert_killed(&asked.await.unwrap().unwrap());
            }
        }
        eventually("its end", || process::stat(pid).is_none_or(|stat| stat.ended).then_some(())).await;
    }
}
