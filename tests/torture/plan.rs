//! A few commands at once, what is done to them, and what may come of it.

use std::time::Duration;

use argvault::os::signal::SignalNumber;
use nix::sys::signal::Signal;
use serde_json::{Value as Json, json};

use crate::random::Random;
use crate::rig::{Place, Rig, signal};
use crate::trees::Tree;

/// What is done to one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Nothing,
    Kill(&'static str),
    Abort,
    KillKeeper,
    StopKeeper,
}

/// What is done to the warden meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Kill,
    Stop,
}

const SIGNALS: &[&str] =
    &["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGUSR1", "SIGRTMIN+4", "SIGSTOP", "SIGCONT"];

#[derive(Debug)]
struct Part {
    tree: Tree,
    timeout_ms: u64,
    cap: u64,
    deeds: Vec<(Duration, Deed)>,
}

#[derive(Debug)]
pub struct Plan {
    parts: Vec<Part>,
    fault: Fault,
    fault_after: Duration,
    kill_all: bool,
}

impl Plan {
    pub fn new(random: &mut Random, place: &Place, step: u64) -> Self {
        let fault = *random.pick(&[Fault::None, Fault::None, Fault::None, Fault::Kill, Fault::Stop]);
        let count = random.between(1, 4);
        let parts = (0..count).map(|at| Part::new(random, place, &format!("{step}-{at}"), fault)).collect();
        Self { parts, fault, fault_after: moment(random), kill_all: random.one_in(10) }
    }

    /// Does it all, checks each outcome, and says how many commands there were.
    pub async fn carry_out(&self, rig: &Rig) -> usize {
        let fault = async {
            tokio::time::sleep(self.fault_after).await;
            let Some(warden) = rig.supervisor.warden_pid().await else { return };
            let warden = i32::try_from(warden).unwrap();
            match self.fault {
                Fault::None => {}
                Fault::Kill => signal(warden, Signal::SIGKILL),
                Fault::Stop => signal(warden, Signal::SIGSTOP),
            }
        };
        let kill_all = async {
            if self.kill_all {
                tokio::time::sleep(self.fault_after * 2).await;
                rig.host.kill_all().await;
            }
        };
        let mut started = 0;
        let parts = async {
            let mut following = Vec::new();
            for part in &self.parts {
                let argv: Vec<&str> = part.tree.argv.iter().map(String::as_str).collect();
                let options = json!({ "timeoutMs": part.timeout_ms, "maxOutputBytes": part.cap });
                match rig.try_start(&argv, options).await {
                    Ok(task) => following.push((part, task)),
                    // Two wardens in a row would have to be killed.
                    Err((code, message)) => panic!("{part:#?} was refused: {code} {message}"),
                }
            }
            started = following.len();
            for (part, task) in &following {
                part.deeds(rig, task);
            }
            for (part, task) in following {
                let status = rig.wait(&task).await;
                self.check(part, rig, &task, &status);
            }
        };
        tokio::join!(fault, kill_all, parts);
        started
    }

    fn check(&self, part: &Part, rig: &Rig, task: &str, status: &Json) {
        let evidence =
            || format!("{part:#?}\n{:?} {}\n{status:#}\n{}", self.fault, self.kill_all, rig.evidence());
        let cause = status["cause"].as_str().unwrap();
        let mut expected = vec!["timeout", "output-limit"];
        expected.extend(part.tree.writes.is_some().then_some("exit"));
        expected.extend(self.kill_all.then_some("kill-all"));
        expected.extend(part.deeds.iter().filter_map(|(_, deed)| match deed {
            Deed::Nothing | Deed::StopKeeper => None,
            Deed::Kill(_) => Some("kill"),
            Deed::Abort => Some("abort"),
            Deed::KillKeeper => Some("keeper-lost"),
        }));
        assert!(expected.contains(&cause), "{cause} is none of {expected:?}: {}", evidence());
        let kept = ["stdout", "stderr"].map(|stream| rig.file(task, stream).len() as u64);
        let told = ["stdoutBytes", "stderrBytes"].map(|field| status[field].as_u64().unwrap());
        assert_eq!(kept, told, "files and status: {}", evidence());
        assert!(kept.iter().all(|&kept| kept <= part.cap), "{}", evidence());
        if cause == "output-limit" {
            assert!(kept.contains(&part.cap), "{}", evidence());
        }
        if cause == "exit" {
            assert_eq!(status["exitCode"].as_u64(), Some(part.tree.exit_code), "{}", evidence());
            // Whoever was still there was ended by somebody else's request: only an undisturbed end is complete.
            if part.is_undisturbed() && !self.kill_all && status.get("error").is_none() {
                assert_eq!(Some(kept), part.tree.writes, "{}", evidence());
                assert_eq!(status["strays"], 0, "{}", evidence());
            }
        }
        assert!(
            status.get("unkillable").is_none() && status.get("outputHeldOutside").is_none(),
            "{}",
            evidence()
        );
        assert_eq!(rig.status(task), *status, "{}", evidence());
    }
}

impl Part {
    fn new(random: &mut Random, place: &Place, name: &str, fault: Fault) -> Self {
        let finite = random.one_in(2);
        let tree =
            if finite { Tree::finite(random, place, name) } else { Tree::endless(random, place, name) };
        let cap = *random.pick(&[1, 1000, 65_536, 65_537, 500_000, 10_485_760, 10_485_760]);
        let quiet = finite && random.one_in(2);
        let timeout_ms = if quiet { 60_000 } else { random.between(100, 1500) };
        let count = if quiet { 0 } else { random.between(0, 3) };
        let deeds = (0..count).map(|_| (moment(random), deed(random, fault))).collect();
        Self { tree, timeout_ms, cap, deeds }
    }

    fn is_undisturbed(&self) -> bool {
        self.deeds.is_empty() && self.timeout_ms == 60_000
    }

    /// Has each deed done at its moment, by itself.
    fn deeds(&self, rig: &Rig, task: &str) {
        for &(after, deed) in &self.deeds {
            let (host, task, keeper) = (rig.host.clone(), task.to_owned(), rig.mark(&self.tree.keeper));
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                let keeper = || std::fs::read_to_string(&keeper).ok()?.trim().parse::<i32>().ok();
                // Whether it still is that keeper: an id may be another's by now.
                let keeper =
                    || keeper().filter(|&pid| host.counts(None).running > 0 && is_keeper_of(pid, &task));
                match deed {
                    Deed::Nothing => {}
                    Deed::Kill(name) => {
                        let _ = host.kill(&task, SignalNumber::from_name(name).unwrap()).await;
                    }
                    Deed::Abort => host.abort(&task),
                    Deed::KillKeeper => keeper().into_iter().for_each(|pid| signal(pid, Signal::SIGKILL)),
                    Deed::StopKeeper => keeper().into_iter().for_each(|pid| signal(pid, Signal::SIGSTOP)),
                }
            });
        }
    }
}

/// A keeper has its task's folder open.
fn is_keeper_of(pid: i32, task: &str) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut targets = open.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
    targets.any(|target| target.file_name().is_some_and(|name| name == task))
}

/// Somewhere in the life of a command, its very beginning included.
fn moment(random: &mut Random) -> Duration {
    let high = *random.pick(&[500, 20_000, 400_000]);
    Duration::from_micros(random.between(0, high))
}

fn deed(random: &mut Random, fault: Fault) -> Deed {
    match random.between(0, 6) {
        0 => Deed::Nothing,
        1 => Deed::Abort,
        // With the warden gone too, nobody is left to end the tree: that is not promised.
        2 if fault != Fault::Kill => Deed::KillKeeper,
        3 if fault != Fault::Kill => Deed::StopKeeper,
        _ => Deed::Kill(SIGNALS[usize::try_from(random.between(0, SIGNALS.len() as u64 - 1)).unwrap()]),
    }
}
