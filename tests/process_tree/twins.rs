//! What the other tests prove nothing without: each fixture outlives a plain kill of its root.

use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::fixtures::{ALL, BACKGROUND_LOOP, COMET, DAEMON, DEAF, Fixture, STOPPED, WRITER};
use crate::rig::{CEILING, Place, holds_within, signal};

fn spawned(place: &Place, argv: &[&str], marks: &[&str]) -> Child {
    let root = Command::new(argv[0])
        .args(&argv[1..])
        .env_clear()
        .envs(place.env())
        .stdin(Stdio::null())
        // Read by nobody: a flood waits in the pipe, as it would for a runner that stopped reading.
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for mark in marks {
        place.marked(mark);
    }
    root
}

/// A look later than any signal that the kernel sends by itself. A comet is between two processes at times.
fn assert_lives(place: &Place, what: &str) {
    let lives = holds_within(CEILING, || !place.survivors().is_empty());
    assert!(lives, "{what} did not live on\n{}", place.evidence());
}

fn outlives_its_root(name: &str, fixture: Fixture) {
    let place = Place::default();
    let mut root = spawned(&place, fixture.argv, fixture.marks);
    root.kill().unwrap();
    root.wait().unwrap();
    assert_lives(&place, name);
}

#[test]
fn every_fixture_outlives_a_plain_kill_of_its_root() {
    for &(name, fixture) in ALL {
        outlives_its_root(name, fixture);
    }
}

#[test]
fn what_a_dead_host_had_started_outlives_it() {
    for fixture in [BACKGROUND_LOOP, DAEMON, DEAF, STOPPED, COMET] {
        let place = Place::default();
        let argv = [&["sh", "-c", "\"$@\" & wait", "sh"], fixture.argv].concat();
        let mut host = spawned(&place, &argv, fixture.marks);
        host.kill().unwrap();
        host.wait().unwrap();
        assert_lives(&place, &format!("{fixture:?}"));
    }
}

#[test]
fn strays_outlive_a_main_process_that_ends_by_itself() {
    for script in ["setsid sleep 100 &", "sleep 100 & echo why >&2; exit 1", "sleep 100 & kill -9 $$"] {
        let place = Place::default();
        spawned(&place, &["sh", "-c", script], &[]).wait().unwrap();
        assert_lives(&place, script);
    }
}

#[test]
fn a_command_that_has_killed_its_parent_lives_on() {
    let place = Place::default();
    let script = "sleep 55 & kill -9 $PPID; sleep 56";
    let mut parent = spawned(&place, &["sh", "-c", "sh -c \"$0\"; true", script], &[]);
    assert!(!parent.wait().unwrap().success());
    place.until("the rest of the script", || place.survivors().len() >= 2);
}

#[test]
fn a_writer_that_ignores_sigterm_goes_on_writing() {
    let place = Place::default();
    let mut root = spawned(&place, WRITER.argv, WRITER.marks);
    signal(i32::try_from(root.id()).unwrap(), Signal::SIGTERM);
    root.kill().unwrap();
    root.wait().unwrap();
    let size = || std::fs::metadata(place.mark("log")).unwrap().len();
    let before = size();
    place.until("more of it", || size() > before);
}
