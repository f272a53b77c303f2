//! A kill at every write: each state that a crash can leave behind is made on disk, and a fresh host has to open it,
//! list it, read it, tell the truth about it, and clean it up.

use std::path::Path;
use std::time::{Duration, SystemTime};

use argvault::input::Value;
use argvault::vault::id::TaskId;
use argvault::vault::record::{Cause, CommandFile, Outcome};
use serde_json::json;

use crate::place::{Place, code, json, settled, start, value};

/// What a reader is to be told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    /// No such command: nothing of it ever ran.
    Unknown,
    /// Nobody has it, nothing ran.
    NeverBegan,
    /// Nobody has it, how it ended is not known.
    Lost,
    /// How it ended.
    Ended,
}

fn command(task: &str, queued: bool) -> Vec<u8> {
    let command = CommandFile {
        task_id: task.into(),
        label: "x".into(),
        argv: vec!["x".into()],
        cwd: "/".into(),
        executable: "/x".into(),
        session_id: None,
        started_at: 5,
        timeout_ms: 1,
        max_output_bytes: 1,
        queued,
        host_pid: 1,
        confinement: None,
        tmp_dir: None,
        keep_tmp: false,
    };
    serde_json::to_vec(&command).unwrap()
}

fn outcome() -> Vec<u8> {
    let mut outcome = Outcome::bare(Cause::Timeout, "exceeded its 1ms budget");
    outcome.stdout_bytes = 4;
    serde_json::to_vec(&outcome).unwrap()
}

/// The writes of a command's life in their order, up to number `writes`; what is known after each.
fn write_up_to(folder: &Path, task: &str, writes: usize, queued: bool) -> Truth {
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    let (command_bytes, outcome) = (command(task, queued), outcome());
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let steps: [(&dyn Fn(), Truth); 13] = [
        (&|| std::fs::create_dir(folder).unwrap(), Truth::Unknown),
        (&|| write("record.pending", b""), Truth::Unknown),
        (&|| write("stdout", b""), Truth::Unknown),
        (&|| write("stderr", b""), Truth::Unknown),
        (&|| write("command.json", &half(&command_bytes)), Truth::Unknown),
        (&|| write("command.json", &command_bytes), Truth::NeverBegan),
        // A queued command's turn comes.
        (&|| write("command.new", &half(&command(task, false))), Truth::NeverBegan),
        (&|| std::fs::write(folder.join("command.json"), command(task, false)).unwrap(), Truth::NeverBegan),
        (&|| write("record.pending", b"\n"), Truth::Lost),
        (&|| write("stdout", b"out\n"), Truth::Lost),
        (&|| write("record.pending", &half(&outcome)), Truth::Lost),
        (&|| write("record.pending", &outcome), Truth::Ended),
        (
            &|| std::fs::rename(folder.join("record.pending"), folder.join("record.json")).unwrap(),
            Truth::Ended,
        ),
    ];
    assert!(writes <= steps.len());
    let mut truth = Truth::Unknown;
    for (step, after) in &steps[..writes] {
        step();
        truth = *after;
    }
    truth
}

const WRITES: usize = 13;

fn age(path: &Path) {
    let folder = std::fs::File::open(path).unwrap();
    folder.set_modified(SystemTime::now() - Duration::from_secs(2 * 3600)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_every_write_leaves_a_vault_that_tells_the_truth() {
    for (writes, queued) in (1..=WRITES).flat_map(|writes| [(writes, false), (writes, true)]) {
        let about = format!("after {writes} writes, queued: {queued}");
        let place = Place::new();
        let good = start(&place.host(), "echo good").await.unwrap();
        settled(&place.host(), &good).await;
        let task = TaskId::new().unwrap().to_string();
        let truth = write_up_to(&place.folder(&task), &task, writes, queued);

        let host = place.host();
        let listed = json(&host.list(&Value::Absent).unwrap());
        let listed = listed["commands"].as_array().unwrap();
        assert_eq!(listed.len(), if truth == Truth::Unknown { 1 } else { 2 }, "{about}");
        assert!(listed.iter().any(|command| command["taskId"] == good), "{about}");
        let abandoned = json(&host.list(&value(json!({ "state": "abandoned" }))).unwrap());
        let is_abandoned = !abandoned["commands"].as_array().unwrap().is_empty();
        assert_eq!(is_abandoned, matches!(truth, Truth::NeverBegan | Truth::Lost), "{about}");

        if truth == Truth::Unknown {
            assert_eq!(code(host.status(&task)), "ERR_UNKNOWN_TASK", "{about}");
            assert_eq!(code(host.read_output(&task, &Value::Absent)), "ERR_UNKNOWN_TASK", "{about}");
        } else {
            let status = settled(&host, &task).await;
            let (cause, error) = match truth {
                Truth::NeverBegan => ("host-gone", "nothing ran"),
                Truth::Lost => ("keeper-lost", "no outcome was written"),
                _ => ("timeout", "exceeded its 1ms budget"),
            };
            assert_eq!(status["cause"], cause, "{about}");
            assert!(status["error"].as_str().unwrap().contains(error), "{about}: {status}");
            let text = if writes >= 10 { "out\n" } else { "" };
            assert_eq!(status["stdout"]["sizeBytes"], text.len(), "{about}");
            assert_eq!(json(&host.read_output(&task, &Value::Absent).unwrap())["content"], text, "{about}");
            let follower = host.follow(&task, &Value::Absent).unwrap();
            let read = host.follow_next(follower).await.unwrap().unwrap_or_default();
            assert_eq!(read, text.as_bytes(), "{about}");
        }

        let all = value(json!({ "maxBytes": 0 }));
        host.cleanup(&all).unwrap();
        if writes < 5 {
            assert_eq!(place.names(), [&*task], "{about}: it may be about to be written");
            age(&place.folder(&task));
            host.cleanup(&all).unwrap();
        }
        assert!(place.names().is_empty(), "{about}: {:?}", place.names());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_banking_or_removal_is_never_seen() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "echo x").await.unwrap();
    settled(&host, &task).await;
    let id = TaskId::new().unwrap().to_string();
    let banking = place.vault.join(format!(".bank-{id}"));
    std::fs::create_dir(&banking).unwrap();
    std::fs::write(banking.join("content"), "half").unwrap();
    std::fs::rename(place.folder(&task), place.vault.join(format!(".trash-{task}"))).unwrap();

    let host = place.host();
    assert!(host.read_artifact(&id).unwrap().is_none());
    assert_eq!(code(host.status(&task)), "ERR_UNKNOWN_TASK");
    assert!(json(&host.list(&Value::Absent).unwrap())["commands"].as_array().unwrap().is_empty());
    let cleaned = json(&host.cleanup(&Value::Absent).unwrap());
    assert!(cleaned["removed"] == 0 && cleaned["freedBytes"].as_u64().unwrap() > 0);
    assert_eq!(place.names(), [format!(".bank-{id}")], "it may be being written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_index_changes_no_page() {
    let place = Place::new();
    let host = place.host();
    let task =
        start(&host, "i=0; while [ $i -lt 40 ]; do head -c 10000 /dev/zero | tr '\\0' x; i=$((i+1)); done")
            .await
            .unwrap();
    settled(&host, &task).await;
    let options = value(json!({ "offset": 390_000, "limit": 5 }));
    let page = || json(&host.read_output(&task, &options).unwrap());
    let whole = page();
    assert_eq!((whole["content"].as_str(), whole["totalSize"].as_u64()), (Some("xxxxx"), Some(400_000)));
    let index = place.folder(&task).join("stdout.index");
    let bytes = std::fs::read(&index).unwrap();
    for cut in [0, 7, 16, 40, bytes.len() - 1] {
        std::fs::write(&index, &bytes[..cut]).unwrap();
        assert_eq!(page(), whole, "cut at {cut}");
    }
}
