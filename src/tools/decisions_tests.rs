use std::sync::Arc;

use super::*;
use crate::host::questions::HookRequest;

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(20);

fn key(argv: &str) -> Key {
    Key { policy: "p".into(), session: None, cwd: "/".into(), argv: vec![argv.into()] }
}

fn question(hook: Hook, ticket: u64) -> Question {
    let request = HookRequest {
        argv: vec!["x".into()],
        cwd: "/".into(),
        executable: "/x".into(),
        env_names: Vec::new(),
        timeout_ms: 7,
        max_output_bytes: 1,
        confinement: None,
        label: "x".into(),
        session_id: None,
    };
    Question { question: hook, ticket, request, timeout_ms: 1 }
}

fn handle(task: &str) -> Handle {
    Handle { task_id: task.into(), argv: Vec::new(), started_at: 1, timeout_ms: 7 }
}

fn enter(decisions: &Decisions, hook: Hook) -> Entry {
    decisions.enter(key("a"), &question(hook, 3))
}

fn new(entry: Entry) -> u64 {
    match entry {
        Entry::New(id) => id,
        other => panic!("not new: {other:?}"),
    }
}

#[tokio::test]
async fn equal_calls_wait_for_one_decision_and_each_gets_its_outcome() {
    let decisions = Arc::new(Decisions::default());
    let id = new(enter(&decisions, Hook::Approve));
    assert!(matches!(enter(&decisions, Hook::Approve), Entry::Joined(joined) if joined == id));
    let waiting = [id, id].map(|id| {
        let decisions = Arc::clone(&decisions);
        tokio::spawn(async move { decisions.wait(id, LONG, Cancel::never()).await })
    });
    assert!(decisions.settle(id, Ok(handle("t"))));
    for waited in waiting {
        let waited = waited.await.unwrap();
        assert!(matches!(waited, Some(Waited::Decided(outcome)) if outcome == Ok(handle("t"))));
    }
    new(enter(&decisions, Hook::Approve));
}

#[tokio::test]
async fn an_outcome_that_comes_before_its_first_call_waits_is_not_lost_to_another() {
    let decisions = Decisions::default();
    let id = new(enter(&decisions, Hook::Approve));
    assert!(decisions.settle(id, Ok(handle("t"))));
    new(enter(&decisions, Hook::Approve));
    let waited = decisions.wait(id, SHORT, Cancel::never()).await;
    assert!(matches!(waited, Some(Waited::Decided(outcome)) if outcome == Ok(handle("t"))));
}

#[tokio::test]
async fn what_was_decided_while_nobody_waited_is_for_the_next_call_and_for_one_only() {
    for hook in [Hook::Approve, Hook::Allowlist] {
        let decisions = Decisions::default();
        let id = new(enter(&decisions, hook));
        assert!(matches!(decisions.wait(id, SHORT, Cancel::never()).await, Some(Waited::Pending)));
        assert!(matches!(enter(&decisions, hook), Entry::Joined(joined) if joined == id));
        assert!(matches!(decisions.wait(id, SHORT, Cancel::never()).await, Some(Waited::Pending)));
        assert!(decisions.settle(id, Ok(handle("t"))), "it is still wanted");
        assert!(matches!(enter(&decisions, hook), Entry::Decided(outcome) if outcome == Ok(handle("t"))));
        new(enter(&decisions, hook));
    }
}

#[test]
fn two_equal_calls_whose_allowlist_thinks_are_two_commands() {
    let decisions = Decisions::default();
    assert_ne!(new(enter(&decisions, Hook::Allowlist)), new(enter(&decisions, Hook::Allowlist)));
}

#[test]
fn another_argv_place_session_or_policy_is_another_decision() {
    let decisions = Decisions::default();
    new(enter(&decisions, Hook::Approve));
    let others = [
        key("b"),
        Key { cwd: "/b".into(), ..key("a") },
        Key { session: Some("b".into()), ..key("a") },
        Key { policy: "b".into(), ..key("a") },
    ];
    for other in others {
        new(decisions.enter(other, &question(Hook::Approve, 4)));
    }
}

#[tokio::test]
async fn the_last_one_who_gives_up_takes_the_start_back() {
    let decisions = Decisions::default();
    let id = new(enter(&decisions, Hook::Approve));
    enter(&decisions, Hook::Approve);
    let (sender, cancel) = Cancel::new();
    sender.send_replace(true);
    let first = decisions.wait(id, LONG, cancel.clone()).await;
    assert!(matches!(first, Some(Waited::Left)), "another call still waits: {first:?}");
    let (wanted, timeout_ms) = decisions.wanted(id).unwrap();
    assert_eq!((wanted.is_set(), timeout_ms), (false, 7));
    decisions.goes_on(id, 9);
    let last = decisions.wait(id, LONG, cancel).await;
    assert!(matches!(last, Some(Waited::Withdrawn(9))), "{last:?}");
    assert!(wanted.is_set() && decisions.wanted(id).is_none());
    assert!(!decisions.settle(id, Ok(handle("t"))));
}

#[tokio::test]
async fn a_promised_decision_outlives_a_call_that_gives_up() {
    let decisions = Decisions::default();
    let id = new(enter(&decisions, Hook::Approve));
    assert!(matches!(decisions.wait(id, SHORT, Cancel::never()).await, Some(Waited::Pending)));
    enter(&decisions, Hook::Approve);
    let (sender, cancel) = Cancel::new();
    sender.send_replace(true);
    assert!(matches!(decisions.wait(id, LONG, cancel).await, Some(Waited::Left)));
    assert!(decisions.settle(id, Ok(handle("t"))));
}
