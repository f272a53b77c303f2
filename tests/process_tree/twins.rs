//! What the other tests prove nothing without: each fixture outlives a plain kill of its root.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::fixtures::{ALL, Fixture};
use crate::rig::{Place, holds_within};

fn outlives_its_root(name: &str, fixture: Fixture) {
    let place = Place::default();
    let mut root = Command::new(fixture.argv[0])
        .args(&fixture.argv[1..])
        .env_clear()
        .envs(place.env())
        .stdin(Stdio::null())
        // Read by nobody: a flood waits in the pipe, as it would for a runner that stopped reading.
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for mark in fixture.marks {
        place.marked(mark);
    }
    root.kill().unwrap();
    root.wait().unwrap();
    // A look later than any signal that the kernel sends by itself. A comet is between two processes at times.
    assert!(
        holds_within(Duration::from_secs(2), || !place.survivors().is_empty()),
        "{name} did not outlive its root\n{}",
        place.evidence()
    );
}

#[test]
fn every_fixture_outlives_a_plain_kill_of_its_root() {
    for &(name, fixture) in ALL {
        outlives_its_root(name, fixture);
    }
}
