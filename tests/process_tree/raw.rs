//! A warden that is spoken to by hand: what a host of this package can't be brought to say, or to leave unsaid.

use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argvault::os::{file, process, signal::SignalNumber, socket};
use argvault::vault::id::TaskId;
use argvault::vault::record::{Cause, CommandFile};
use argvault::vault::store::{NewTask, Vault};
use argvault::warden::protocol::{
    ExecBy, Inbox, Launch, Limits, Order, Report, Specification, VERSION, encode,
};
use serde_json::json;

use crate::rig::{CEILING, Place, Rig, WARDEN, is_alive};

/// Dropping it ends the warden.
struct RawWarden {
    child: Child,
    socket: UnixStream,
}

impl RawWarden {
    fn start() -> Self {
        let (socket, theirs) = socket::pair().unwrap();
        let child = Command::new(WARDEN)
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, socket }
    }

    /// Has a keeper forked, and gives the host's end of the command's socket.
    fn launch(&self, files: &NewTask, overdue_ms: u64) -> UnixStream {
        let (own, keepers) = socket::pair().unwrap();
        let launch =
            encode(&Launch { version: VERSION.into(), overdue_ms, sync: false, ahead: None }).unwrap();
        let descriptors = [keepers.as_fd(), files.folder.as_fd(), files.pending.as_fd()];
        assert_eq!(socket::send(&self.socket, &launch, &descriptors).unwrap(), launch.len());
        own
    }
}

impl Drop for RawWarden {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn new_task(place: &Place) -> (TaskId, NewTask) {
    let task = TaskId::new().unwrap();
    let command = CommandFile {
        task_id: task.to_string(),
        label: "by hand".into(),
        argv: vec!["sh".into()],
        cwd: "/".into(),
        executable: "/bin/sh".into(),
        session_id: None,
        started_at: 1,
        timeout_ms: 60_000,
        max_output_bytes: 1 << 20,
        queued: false,
        host_pid: 1,
        confinement: None,
        tmp_dir: None,
        keep_tmp: false,
    };
    (task, Vault::open(&place.vault()).unwrap().create(&task, &command).unwrap())
}

fn specification(place: &Place, task: &TaskId, script: &str) -> Vec<u8> {
    let specification = Specification {
        task_id: task.to_string(),
        argv: ["sh", "-c", script].map(str::to_owned).into(),
        env: place.env().into_iter().map(|(name, text)| format!("{name}={text}")).collect(),
        exec: ExecBy::Path("/bin/sh".into()),
        timeout_ms: 60_000,
        kill_grace_ms: 300,
        stray_grace_ms: 300,
        max_output_bytes: 1 << 30,
        max_total_output_bytes: None,
        has_input: false,
        limits: Limits::default(),
        confinement: None,
    };
    encode(&specification).unwrap()
}

/// The reports until the end, or a panic at the ceiling.
fn outcome_of(host: &UnixStream) -> (Cause, bool) {
    host.set_read_timeout(Some(CEILING)).unwrap();
    let (mut inbox, mut buffer) = (Inbox::default(), [0; 4096]);
    loop {
        let received = socket::receive(host, &mut buffer, true).unwrap();
        assert!(received.bytes > 0, "keeper and warden ended without a word");
        inbox.push(&buffer[..received.bytes]);
        while let Some(report) = inbox.take::<Report>().unwrap() {
            if let Report::Settled { outcome, stored } = report {
                return (outcome.cause, stored);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unsaid {
    /// The warden was never told.
    Everything,
    /// It was, and no specification followed.
    Specification,
    /// Half of one did.
    Half,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_dies_before_it_has_said_what_to_run_is_told_as_gone_and_not_its_keeper() {
    for unsaid in [Unsaid::Everything, Unsaid::Specification, Unsaid::Half] {
        let place = Place::default();
        let warden = RawWarden::start();
        let (task, files) = new_task(&place);
        if unsaid != Unsaid::Everything {
            let host = warden.launch(&files, 60_000);
            if unsaid == Unsaid::Half {
                let whole = specification(&place, &task, "echo ran > $MARKS/ran");
                let outputs: [&File; 2] = [&files.stdout, &files.stderr];
                let cwd = File::open("/").unwrap();
                let descriptors: Vec<BorrowedFd<'_>> =
                    outputs.into_iter().chain([&cwd]).map(|file| file.as_fd()).collect();
                socket::send(&host, &whole[..whole.len() / 2], &descriptors).unwrap();
            }
        }
        // All that the host held is closed, as by its death.
        drop(files);
        let rig = Rig::at(place, std::path::Path::new(WARDEN), &json!({}));
        let status = rig.wait(&task.to_string()).await;
        assert_eq!(
            (&status["state"], &status["cause"]),
            (&json!("killed"), &json!("host-gone")),
            "{unsaid:?}: {status:#}"
        );
        assert!(status["error"].as_str().unwrap().contains("nothing ran"), "{unsaid:?}: {status:#}");
        assert!(!rig.mark("ran").exists());
        rig.until("the keeper's end", || crate::rig::children(warden.child.id().cast_signed()).is_empty());
        if unsaid != Unsaid::Everything {
            assert_eq!(rig.records().len(), 1, "{unsaid:?}");
        }
    }
}

/// A pipe that nobody reads stands where the file of the output should be: once it is full the keeper waits in
/// `write(2)`, for ever and deaf to its host, as on a file system that has stopped to answer.
#[test]
fn a_keeper_that_hangs_is_ended_with_its_tree_once_it_is_overdue() {
    const OVERDUE: Duration = Duration::from_secs(3);
    let place = Place::default();
    let warden = RawWarden::start();
    let (task, files) = new_task(&place);
    let (unread, stuck) = nix::unistd::pipe().unwrap();
    let begun = Instant::now();
    let host = warden.launch(&files, u64::try_from(OVERDUE.as_millis()).unwrap());
    let script = "echo $PPID > $MARKS/keeper; setsid sleep 100 & echo ok > $MARKS/up; exec yes";
    let whole = specification(&place, &task, script);
    let cwd = File::open("/").unwrap();
    let descriptors = [stuck.as_fd(), files.stderr.as_fd(), cwd.as_fd()];
    assert_eq!(socket::send(&host, &whole, &descriptors).unwrap(), whole.len());
    drop((files, stuck));
    place.marked("up");
    let keeper = place.marked_pid("keeper");
    place.until("a full pipe", || file::readable_bytes(&unread).unwrap() == 64 * 1024);
    // One that still heard its host would end the tree on this account.
    let order = encode(&Order::End { signal: SignalNumber::KILL.as_raw(), cause: Cause::Kill }).unwrap();
    socket::send(&host, &order, &[]).unwrap();
    assert_eq!(outcome_of(&host), (Cause::KeeperLost, true));
    assert!(begun.elapsed() >= OVERDUE, "ended before it was overdue: {:?}", begun.elapsed());
    assert_eq!(place.survivors(), [0; 0], "{}", place.evidence());
    assert!(!is_alive(keeper));
    let records = place.records();
    assert_eq!((&records[0].0, &records[0].1["cause"]), (&task.to_string(), &json!("keeper-lost")));
    assert!(process::stat(warden.child.id().cast_signed()).is_some_and(|stat| !stat.ended));
}

/// The twin: where the pipe is read, the same keeper hears its host and nothing is overdue.
#[test]
fn the_same_keeper_answers_while_its_output_can_be_written() {
    let place = Place::default();
    let warden = RawWarden::start();
    let (task, files) = new_task(&place);
    let (read, written) = nix::unistd::pipe().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut File::from(read), &mut std::io::sink()));
    let host = warden.launch(&files, 60_000);
    let whole = specification(&place, &task, "setsid sleep 100 & echo ok > $MARKS/up; exec yes");
    let cwd = File::open("/").unwrap();
    socket::send(&host, &whole, &[written.as_fd(), files.stderr.as_fd(), cwd.as_fd()]).unwrap();
    drop((files, written));
    place.marked("up");
    let order = encode(&Order::End { signal: SignalNumber::KILL.as_raw(), cause: Cause::Kill }).unwrap();
    socket::send(&host, &order, &[]).unwrap();
    assert_eq!(outcome_of(&host), (Cause::Kill, true));
    assert_eq!(place.survivors(), [0; 0]);
    place.until("the keeper's end", || reader.is_finished());
}
