//! What the warden makes before there is a command for it: that it serves what it was made for, and nothing else.

use std::time::{Duration, Instant};

use argvault::os::process::{Pid, children};
use argvault::os::signal::SignalNumber;
use serde_json::{Value as Json, json};

use crate::attempt::{Field, PROGRAMS, expected, sh};

/// The warden of this host.
async fn warden(field: &Field) -> Pid {
    let (_, text) = field.run(None, &sh("read -r _ _ _ warden _ < /proc/$PPID/stat; echo $warden")).await;
    text.trim().parse().unwrap()
}

/// The line `key` of a process's status.
fn status(pid: Pid, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
}

/// The process that waits for the next command under a filter.
fn waiting(warden: Pid) -> Option<Pid> {
    let keepers = children(warden)?;
    let mut found = keepers.into_iter().filter_map(children).flatten();
    found.find(|&pid| {
        status(pid, "Seccomp").as_deref() == Some("2")
            && status(pid, "State").is_some_and(|state| state.starts_with('S'))
    })
}

/// Has commands run under `confinement` until a process waits for the next one.
async fn prepared(field: &Field, warden: Pid, confinement: &Json) -> Pid {
    field.rig.set_policy(json!({ "allowedExecutables": PROGRAMS, "confinement": confinement }));
    prepared_again(field, warden).await
}

/// The same under the policy as it is. One that waits is let go after half a second, so what is to be seen of it is tried more
/// than once.
async fn prepared_again(field: &Field, warden: Pid) -> Pid {
    for _ in 0..30 {
        for _ in 0..2 {
            assert_eq!(field.rig.run(json!(["true"]), json!({})).await["exitCode"], 0);
        }
        let until = Instant::now() + Duration::from_millis(400);
        while Instant::now() < until {
            if let Some(pid) = waiting(warden) {
                return pid;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    panic!("no process waits for a command");
}

/// Whether one of some tries came to `true`.
async fn once(what: &str, mut attempt: impl AsyncFnMut() -> bool) {
    for _ in 0..20 {
        if attempt().await {
            return;
        }
    }
    panic!("{what}: not in twenty tries");
}

fn workspace() -> Json {
    json!("workspace")
}

#[tokio::test]
async fn a_command_like_the_last_two_gets_the_process_that_waits() {
    let field = Field::new();
    let warden = warden(&field).await;
    once("the process that waited", async || {
        let waits = prepared(&field, warden, &workspace()).await;
        assert_eq!(status(waits, "NoNewPrivs").as_deref(), Some("1"));
        field.run(Some(&workspace()), &sh("echo $$")).await.1.trim() == waits.to_string()
    })
    .await;
}

#[tokio::test]
async fn a_program_finds_the_same_whether_its_process_waited_or_not() {
    let field = Field::new();
    let look = "grep -E '^(Sig[^Q]|Shd|Cap|NoNewPrivs|Seccomp|Umask)' /proc/self/status; ulimit -a; ls /proc/self/fd; pwd; \
                env | sort | grep -v TMPDIR; cut -d' ' -f9 /proc/self/stat; test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo leads; \
                cat /dev/null; echo err >&2; exit 7";
    let warden = warden(&field).await;
    for confinement in [workspace(), json!("read-only"), json!({ "level": "required" })] {
        let (status, first) = field.run(Some(&confinement), &sh(look)).await;
        assert_eq!(status["exitCode"], 7, "{first}");
        assert!(first.contains("leads") && first.contains("err"), "{first}");
        once("the process that waited", async || {
            let waits = prepared(&field, warden, &confinement).await;
            let argv = sh(&format!("echo $$; {look}"));
            let (status, text) = field.run(Some(&confinement), &argv).await;
            assert_eq!(status["exitCode"], 7);
            let (pid, rest) = text.split_once('\n').unwrap();
            assert_eq!(rest, first);
            pid == waits.to_string()
        })
        .await;
    }
}

#[tokio::test]
async fn a_command_under_other_rules_is_held_to_its_own() {
    assert!(expected(6));
    let field = Field::new();
    let warden = warden(&field).await;
    let secret = field.outside.join("secret");
    std::fs::write(&secret, "escaped").unwrap();
    let read = json!(["cat", secret]);
    let write = sh("echo x > here && rm here && echo escaped");
    let socket = crate::attempt::perl("socket(my $s, 2, 1, 0) and print 'escaped'");
    let wide = json!({ "level": "required" });
    for argv in [&read, &write, &socket] {
        prepared(&field, warden, &wide).await;
        field
            .is_stopped_without_twin(
                json!({ "level": "required", "read": ["."], "write": [], "network": "none" }),
                argv.clone(),
            )
            .await;
        // And the other way round: what waits under the narrow rules isn't used for the wide ones.
        prepared(&field, warden, &workspace()).await;
        field.gets_through(wide.clone(), argv.clone()).await;
    }
}

#[tokio::test]
async fn a_place_that_was_replaced_meanwhile_is_granted_as_it_is_now() {
    let field = Field::new();
    let warden = warden(&field).await;
    let (place, aside) = (field.outside.join("place"), field.outside.join("aside"));
    let fill = |text: &str| {
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("file"), text).unwrap();
    };
    fill("0");
    let rules = json!({ "level": "required", "read": [".", place], "write": [".", place] });
    let mut waited = 0;
    for round in 1..=12 {
        let waits = prepared(&field, warden, &rules).await;
        std::fs::rename(&place, &aside).unwrap();
        fill(&round.to_string());
        let look = format!(
            "echo $$; cat {0}/file && echo y >> {0}/file && echo ' new'; cat {1}/file && echo escaped; \
             echo x >> {1}/file && echo escaped",
            place.display(),
            aside.display()
        );
        let (_, text) = field.run(Some(&rules), &sh(&look)).await;
        assert!(text.contains(&format!("{round} new")) && !text.contains("escaped"), "{text}");
        waited += u32::from(text.starts_with(&format!("{waits}\n")));
        std::fs::remove_dir_all(&aside).unwrap();
    }
    assert!(waited > 0, "the process that waited was never used");
}

#[tokio::test]
async fn a_place_that_has_gone_or_come_meanwhile_is_treated_as_it_is_now() {
    let field = Field::new();
    let warden = warden(&field).await;
    let place = field.outside.join("place");
    std::fs::create_dir(&place).unwrap();
    // Where the policy's absolute paths lead is held as it is set: it is set once.
    prepared(&field, warden, &json!({ "level": "required", "read": [".", place] })).await;
    let run = async |argv: Json| {
        let status = field.rig.run(argv, json!({})).await;
        let output = field.rig.bytes(status["taskId"].as_str().unwrap(), "stdout");
        (status["exitCode"].as_i64(), String::from_utf8(output).unwrap())
    };
    std::fs::remove_dir(&place).unwrap();
    assert_eq!(run(sh("exit 3")).await.0, Some(3));
    prepared_again(&field, warden).await;
    // A link in its place leads nowhere.
    std::fs::write(field.outside.join("secret"), "escaped").unwrap();
    std::os::unix::fs::symlink(&field.outside, &place).unwrap();
    assert_eq!(run(json!(["cat", place.join("secret")])).await, (Some(1), String::new()));
    prepared_again(&field, warden).await;
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("file"), "read").unwrap();
    assert_eq!(run(json!(["cat", place.join("file")])).await, (Some(0), "read".to_owned()));
}

#[tokio::test]
async fn the_temporary_directory_of_one_command_is_not_the_next_ones() {
    let field = Field::new();
    let warden = warden(&field).await;
    let rules = json!({ "level": "required", "read": ["."], "write": ["."], "keepTmp": true });
    let mut earlier = Vec::new();
    for _ in 0..6 {
        prepared(&field, warden, &rules).await;
        let tries: Vec<_> = earlier
            .iter()
            .map(|tmp: &String| {
                format!("echo x > {tmp}/file && echo escaped; cat {tmp}/own && echo escaped; ")
            })
            .collect();
        let argv = sh(&format!("{} echo x > $TMPDIR/own && cat $TMPDIR/own", tries.concat()));
        let (status, text) = field.run(Some(&rules), &argv).await;
        assert!(text.starts_with("x\n") && !text.contains("escaped"), "{text}");
        earlier.push(status["tmpDir"].as_str().unwrap().to_owned());
    }
}

#[tokio::test]
async fn a_free_command_after_confined_ones_is_free_and_alone() {
    let field = Field::new();
    let warden = warden(&field).await;
    let look = sh(
        "grep -E '^(NoNewPrivs|Seccomp|CapBnd)' /proc/self/status; echo x > ../outside/file && echo wrote; \
                   cat /proc/$PPID/task/$PPID/children; echo; echo $$",
    );
    for _ in 0..4 {
        let waits = prepared(&field, warden, &workspace()).await;
        let (_, text) = field.run(None, &look).await;
        let lines: Vec<_> = text.lines().collect();
        let bound =
            format!("CapBnd:\t{}", status(Pid::try_from(std::process::id()).unwrap(), "CapBnd").unwrap());
        for line in [&bound, "NoNewPrivs:\t0", "Seccomp:\t0", "wrote"] {
            assert!(lines.contains(&line), "{line}: {text}");
        }
        let [.., beside, own] = &lines[..] else { panic!("{text}") };
        assert_eq!(beside.trim(), *own, "its keeper has another child");
        assert!(status(waits, "State").is_none_or(|state| !state.starts_with('S')), "it waits no more");
    }
}

#[tokio::test]
async fn one_that_was_killed_while_it_waited_is_made_again() {
    let field = Field::new();
    let warden = warden(&field).await;
    for _ in 0..6 {
        let waits = prepared(&field, warden, &workspace()).await;
        argvault::os::process::signal_child(waits, SignalNumber::KILL).unwrap();
        let argv = sh("echo x > here && echo wrote; echo x > ../outside/file && echo escaped; exit 3");
        let (status, text) = field.run(Some(&workspace()), &argv).await;
        assert_eq!((&status["cause"], &status["exitCode"]), (&json!("exit"), &json!(3)), "{status:#}");
        assert!(text.contains("wrote") && !text.contains("escaped"), "{text}");
    }
}

#[tokio::test]
async fn one_that_is_not_needed_goes_with_its_keeper() {
    let field = Field::new();
    let warden = warden(&field).await;
    let waits = prepared(&field, warden, &workspace()).await;
    let gone = || {
        let ended = status(waits, "State").is_none_or(|state| state.starts_with('Z'));
        (ended && children(warden).is_some_and(|keepers| keepers.is_empty())).then_some(())
    };
    crate::support::eventually("its end", gone).await;
}

#[tokio::test]
async fn a_program_that_can_not_start_says_so_from_the_process_that_waited() {
    let field = Field::new();
    let warden = warden(&field).await;
    let rules = json!({ "level": "required", "execute": ["true"] });
    for _ in 0..4 {
        prepared(&field, warden, &rules).await;
        let (status, _) = field.run(Some(&rules), &sh("true")).await;
        assert_eq!(status["cause"], "start-failed");
        assert!(status["error"].as_str().unwrap().contains("confinement.execute"), "{status:#}");
    }
}
