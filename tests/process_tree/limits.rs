//! Limits that the kernel holds a command to, what it used, and what held its tree.

use serde_json::json;

use crate::rig::{Rig, is_root};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processor_time_is_limited_and_the_limit_is_named() {
    let rig = Rig::with(&json!({ "limits": { "cpuSeconds": 1 } }));
    let status = rig.run_sh("while :; do :; done").await;
    assert_eq!(
        (&status["state"], &status["cause"], &status["signal"]),
        (&json!("killed"), &json!("limit"), &json!("SIGXCPU"))
    );
    assert!(status["error"].as_str().unwrap().contains("limits.cpuSeconds"), "{status:#}");
    let used = status["usage"]["userMs"].as_u64().unwrap() + status["usage"]["systemMs"].as_u64().unwrap();
    assert!((500..5000).contains(&used), "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ignores_the_warning_of_its_processor_limit_is_named_too() {
    let rig = Rig::with(&json!({ "limits": { "cpuSeconds": 1 } }));
    let status = rig.run_sh("trap '' XCPU; while :; do :; done").await;
    assert_eq!((&status["cause"], &status["signal"]), (&json!("limit"), &json!("SIGKILL")), "{status:#}");
    assert!(status["error"].as_str().unwrap().contains("limits.cpuSeconds"), "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_size_of_a_file_is_limited_and_output_is_no_such_file() {
    let rig = Rig::with(&json!({ "limits": { "fileSizeBytes": 4096 } }));
    let status = rig.run_sh("exec head -c 5000 /dev/zero > $MARKS/large").await;
    assert_eq!((&status["cause"], &status["signal"]), (&json!("limit"), &json!("SIGXFSZ")), "{status:#}");
    assert!(status["error"].as_str().unwrap().contains("limits.fileSizeBytes"), "{status:#}");
    assert_eq!(std::fs::metadata(rig.mark("large")).unwrap().len(), 4096);
    let status = rig.run(&["head", "-c", "100000", "/dev/zero"]).await;
    assert_eq!((&status["exitCode"], &status["stdoutBytes"]), (&json!(0), &json!(100_000)), "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_files_and_address_space_are_as_the_policy_says_and_core_files_are_off() {
    let rig = Rig::with(&json!({ "limits": { "openFiles": 17, "addressSpaceBytes": 1_073_741_824 } }));
    let status = rig.run_sh("ulimit -n; ulimit -v; ulimit -c").await;
    assert_eq!(String::from_utf8(rig.stdout(&status)).unwrap(), "17\n1048576\n0\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_limits_a_program_has_those_of_its_host() {
    let rig = Rig::new();
    let (soft, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).unwrap();
    let status = rig.run_sh("ulimit -Sn; ulimit -Hn; ulimit -c").await;
    assert_eq!(String::from_utf8(rig.stdout(&status)).unwrap(), format!("{soft}\n{hard}\n0\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_can_not_be_held_starts_nothing() {
    let rig = Rig::with(&json!({ "limits": { "openFiles": 1_000_000_000_000_u64 } }));
    let status = rig.run(&["true"]).await;
    assert_eq!(status["cause"], "start-failed", "{status:#}");
    assert!(status["error"].as_str().unwrap().contains("limit can't be set"), "{status:#}");
}

/// The kernel doesn't hold root to `RLIMIT_NPROC` (`getrlimit(2)`): without the pids controller a limit of processes
/// would be a word only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_of_processes_holds_or_starts_nothing() {
    let rig = Rig::with(&json!({ "limits": { "processes": 5 } }));
    let status = rig.run_sh("i=0; while [ $i -lt 20 ]; do sleep 20 & i=$((i+1)); done; echo all").await;
    if status["cause"] == "start-failed" {
        assert!(is_root(), "{status:#}");
        assert!(status["error"].as_str().unwrap().contains("limits.processes"), "{status:#}");
    } else {
        assert_eq!(rig.stdout(&status), b"", "{status:#}");
    }
    rig.assert_gone();
}

/// The kernel's out-of-memory killer shows only where the memory controller is one of cgroup v2 and delegated; where it is
/// one of v1, or nobody's to give, such a command isn't started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_of_memory_is_named_by_its_kill_or_starts_nothing_where_no_memory_controller_is_delegated() {
    const GREEDY: &str = "const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1))";
    let rig = Rig::with(&json!({ "limits": { "memoryBytes": 96 << 20 } }));
    let expected = std::env::var("ARGVAULT_EXPECT_MEMORY_CONTROLLER").ok();
    let as_a_child = format!("node -e '{GREEDY}'; echo its parent lives on");
    for argv in [["node", "-e", GREEDY], ["sh", "-c", &as_a_child]] {
        let status = rig.run(&argv).await;
        if status["cause"] == "start-failed" {
            assert_ne!(expected.as_deref(), Some("1"), "{status:#}");
        } else {
            assert_ne!(expected.as_deref(), Some("0"), "{status:#}");
            let end = (&status["cause"], &status["signal"], &status["stdoutBytes"]);
            assert_eq!(end, (&json!("limit"), &json!("SIGKILL"), &json!(0)), "{status:#}");
        }
        assert!(status["error"].as_str().unwrap().contains("limits.memoryBytes"), "{status:#}");
    }
    rig.assert_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usage_counts_the_whole_tree_and_not_what_came_before() {
    let rig = Rig::new();
    rig.run_sh("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").await;
    let idle = rig.run(&["true"]).await;
    assert!(idle["usage"]["userMs"].as_u64().unwrap() < 200, "{idle:#}");
    let busy =
        rig.run_sh("sh -c 'sh -c \"i=0; while [ \\$i -lt 600000 ]; do i=\\$((i+1)); done\"'; exit 0").await;
    assert!(busy["usage"]["userMs"].as_u64().unwrap() > 50, "{busy:#}");
    let rss = busy["usage"]["maxRssBytes"].as_u64().unwrap();
    assert!((100_000..100_000_000).contains(&rss), "{busy:#}");
    let script = "const kept = Buffer.alloc(90e6, 1); setTimeout(() => kept, 1)";
    let large = rig.run(&["node", "-e", script]).await;
    assert!(large["usage"]["maxRssBytes"].as_u64().unwrap() > 90_000_000, "{large:#}");
}

/// The containment to expect: from the variable that a CI sets, else by trying what a warden would need.
fn expected_containment() -> String {
    std::env::var("ARGVAULT_EXPECT_CONTAINMENT").unwrap_or_else(|_| {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let mount =
            mounts.lines().find(|line| line.contains(" - cgroup2 ")).and_then(|line| line.split(' ').nth(4));
        let path = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let writable = mount.zip(path).is_some_and(|(mount, path)| {
            let tried = std::path::Path::new(mount).join(path).join(format!("tried-{}", std::process::id()));
            std::fs::create_dir(&tried).is_ok() && std::fs::remove_dir(&tried).is_ok()
        });
        if writable { "cgroup" } else { "subreaper" }.to_owned()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containment_says_what_was_writable_here_and_leaves_no_leaf() {
    let rig = Rig::new();
    let status = rig.run_sh("cat /proc/self/cgroup; setsid sleep 100 &").await;
    let expected = expected_containment();
    assert_eq!(status["containment"], json!(expected), "{status:#}");
    if expected == "cgroup" {
        let text = String::from_utf8(rig.stdout(&status)).unwrap();
        let leaf = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap();
        assert!(leaf.ends_with(status["taskId"].as_str().unwrap()), "{leaf}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount =
            mounts.lines().find(|line| line.contains(" - cgroup2 ")).unwrap().split(' ').nth(4).unwrap();
        let path = format!("{mount}{leaf}");
        rig.until("the leaf's end", || !std::path::Path::new(&path).exists());
    }
    rig.assert_gone();
}
