//! The directory that was checked is the one that is used, whatever is swapped in meanwhile.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use serde_json::json;

use crate::support::Rig;

/// How long to race; `.ci/run` sets ten seconds.
fn span() -> Duration {
    let seconds = std::env::var("ARGVAULT_RACE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// Swaps a directory and a link that leads out, as fast as it can, until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Swapper {
    fn start(work: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (dir, link) = (work.join("dir"), work.join("link"));
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                renameat2(AT_FDCWD, &dir, AT_FDCWD, &link, RenameFlags::RENAME_EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        Self { stop, thread: Some(thread) }
    }

    fn swaps(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn no_command_runs_outside_while_its_directory_is_swapped_with_an_outward_link() {
    let rig = Rig::new(json!({}));
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(rig.work().join("dir")).unwrap();
    std::os::unix::fs::symlink(outside.path(), rig.work().join("link")).unwrap();
    let escaped = std::fs::metadata(outside.path()).unwrap().ino().to_string();
    let swapper = Swapper::start(rig.work());

    let until = Instant::now() + span();
    let (mut ran, mut refused) = (0, 0);
    while Instant::now() < until {
        match rig.try_start(json!(["stat", "-c", "%i", "."]), json!({ "cwd": "dir" })).await {
            Ok(handle) => {
                let task = handle["taskId"].as_str().unwrap();
                rig.settled(task).await;
                let inode = String::from_utf8(rig.bytes(task, "stdout")).unwrap();
                assert_ne!(inode.trim(), escaped, "a command ran outside");
                ran += 1;
            }
            Err(error) => {
                assert_eq!(error.to_wire().code, "ERR_CWD_OUTSIDE_ROOT", "{error}");
                refused += 1;
            }
        }
    }
    println!("{ran} ran inside, {refused} refused, {} swaps", swapper.swaps());
    assert!(ran >= 20 && refused >= 20, "{ran} ran, {refused} refused: the race was not close");
}
