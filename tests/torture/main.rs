//! Random trees, ended at random, from every side: `npm run torture -- --seed N --minutes M`.
//!
//! After each step the promises are checked: nothing is alive that was settled, the files hold what the tree says it
//! wrote (or the cap), each start has one record, and neither host nor warden has kept a descriptor or a zombie.
//! A failure names its seed and step. The same seed makes the same trees and the same plan; the moments at which things
//! meet are the machine's.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as the tests do")]
#![expect(clippy::print_stderr, reason = "the seed of a failure is told outside of a test function")]

#[path = "../process_tree/hosted.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod hosted;
mod plan;
mod random;
#[path = "../process_tree/rig.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod rig;
mod trees;

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use self::hosted::Setting;
use self::plan::Plan;
use self::random::Random;
use self::rig::{Place, Rig, children, descriptors, own_pid, signal};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// Tells where it was when something panics.
struct Where {
    seed: u64,
    step: u64,
}

impl Drop for Where {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("torture failed: --seed {} (step {})", self.seed, self.step);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tree_however_it_is_ended_breaks_a_promise() {
    let seed = number("ARGVAULT_TORTURE_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::from(now.subsec_nanos()) % 1_000_000
    });
    let length = Duration::from_secs(number("ARGVAULT_TORTURE_SECONDS").unwrap_or(8));
    let last_step = number("ARGVAULT_TORTURE_STEPS").unwrap_or(u64::MAX);
    let mut at = Where { seed, step: 0 };
    let rig = Rig::with(&json!({ "killGraceMs": 150, "strayGraceMs": 15_000 }));
    let mut random = Random::new(seed);
    rig.run(&["true"]).await;
    rig.until("the first keeper's end", || rig.survivors().is_empty());
    let mut starts = 1;
    let before = settled_descriptors(&rig).await;
    let begun = Instant::now();
    while begun.elapsed() < length && at.step < last_step {
        at.step += 1;
        if random.one_in(8) {
            end_a_host(&mut random);
        } else {
            let plan = Plan::new(&mut random, &rig.place, at.step);
            starts += plan.carry_out(&rig).await;
        }
        rig.assert_gone();
        assert_eq!(rig.records().len(), starts, "records and starts\n{}", rig.evidence());
        assert_eq!(rig.host.counts(None).running, 0);
        assert_eq!(rig.host.counts(None).finished, 0);
        assert_eq!(
            settled_descriptors(&rig).await,
            before,
            "descriptors of host and warden\n{}",
            rig.evidence()
        );
        assert!(children(own_pid()).len() <= 1, "zombies in the host: {:?}", children(own_pid()));
    }
    println!("seed {seed}: {} steps, {starts} commands, nothing broken", at.step);
}

/// How many descriptors host and warden have once all keepers are gone and a killed warden is replaced.
async fn settled_descriptors(rig: &Rig) -> [usize; 2] {
    let end = Instant::now() + rig::CEILING;
    let warden = loop {
        // Anew in each round: the host may not have noticed yet that the last step has killed its warden.
        rig.supervisor.warm_up().await;
        let warden = rig.supervisor.warden_pid().await.map(|pid| i32::try_from(pid).unwrap());
        if let Some(warden) = warden {
            signal(warden, Signal::SIGCONT);
            // Twice: a keeper may have been forked ahead when another one ended, while that was looked for.
            let is_alone = || children(warden).is_empty() && children(warden).is_empty();
            if is_alone() && children(own_pid()) == [warden] {
                break warden;
            }
        }
        assert!(
            Instant::now() < end,
            "{warden:?} is not alone: {:?} beside it, {:?} below\n{}",
            children(own_pid()),
            warden.map(children),
            rig.evidence()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    // A new warden closes what it doesn't need after it has begun.
    rig.at_rest(|| [descriptors(own_pid()), descriptors(warden)])
}

/// A host of its own process that is killed at some moment.
fn end_a_host(random: &mut Random) {
    let place = Place::default();
    let starts: Vec<Vec<String>> = (0..random.between(1, 5))
        .map(|at| trees::Tree::endless(random, &place, &format!("host-{at}")).argv)
        .collect();
    let act = json!({ "do": "live", "start": starts, "end": "wait" });
    let host = place.host(&act, &json!({ "killGraceMs": 150 }), &Setting::default());
    if random.one_in(2) {
        place.marked("host");
    } else {
        // In the middle of the starts.
        place.until("a first tree", || !place.survivors().is_empty());
        std::thread::sleep(Duration::from_micros(random.between(0, 20_000)));
    }
    let stopped_first = random.one_in(3);
    if stopped_first {
        signal(host.pid(), nix::sys::signal::Signal::SIGSTOP);
    }
    signal(host.pid(), nix::sys::signal::Signal::SIGKILL);
    place.until("the ends of the host's trees", || place.survivors().is_empty());
    // A start that the host was just making has nothing to record, and its mark says that nothing ran.
    let unrecorded = || {
        let folders = std::fs::read_dir(place.vault()).unwrap().map(|entry| entry.unwrap().path());
        let started = |folder: &std::path::Path| {
            std::fs::metadata(folder.join("record.pending")).is_ok_and(|mark| mark.len() > 0)
        };
        folders.filter(|folder| started(folder)).collect::<Vec<_>>()
    };
    place.until("a record for each start", || unrecorded().is_empty());
    for (task, record) in place.records() {
        // A flood may have filled its cap before.
        let expected = ["host-gone", "output-limit"].map(serde_json::Value::from);
        assert!(expected.contains(&record["cause"]), "{task}: {record:#}");
    }
    assert!(place.survivors().is_empty());
}
