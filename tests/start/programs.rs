//! The executable that was meant.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::{Rig, refusal, script};

fn digest(bytes: impl AsRef<[u8]>) -> String {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    format!("{:x}", Number(hash))
}

/// Bytes, most significant first, as one hexadecimal number.
struct Number([u8; 32]);

impl std::fmt::LowerHex for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[tokio::test]
async fn argv_0_reaches_the_program_as_written_and_the_status_says_which_file_ran() {
    let rig = Rig::new(json!({ "allowedExecutables": ["sh", "/bin/sh"] }));
    for name in ["sh", "/bin/sh"] {
        let status =
            rig.run(json!([name, "-c", "tr '\\0' '\\n' < /proc/$$/cmdline | head -n 1"]), json!({})).await;
        let task = status["taskId"].as_str().unwrap();
        assert_eq!(String::from_utf8(rig.bytes(task, "stdout")).unwrap(), format!("{name}\n"));
        assert!(status["executable"].as_str().unwrap().ends_with("/sh"), "{status:#}");
    }
}

#[tokio::test]
async fn a_relative_entry_is_looked_for_from_the_commands_directory() {
    let rig = Rig::new(json!({ "allowedExecutables": ["./tool"] }));
    for name in ["a", "b"] {
        std::fs::create_dir(rig.work().join(name)).unwrap();
        script(&rig.work().join(name).join("tool"), &format!("#!/bin/sh\necho {name} $0\n"));
    }
    for name in ["a", "b"] {
        let task = rig.start(json!(["./tool"]), json!({ "cwd": name })).await;
        rig.settled(&task).await;
        let text = String::from_utf8(rig.bytes(&task, "stdout")).unwrap();
        assert!(text.starts_with(&format!("{name} ")) && text.contains("/tool"), "{text}");
    }
    let status = rig.run(json!(["./tool"]), json!({})).await;
    assert_eq!(status["cause"], "start-failed", "{status:#}");
}

#[tokio::test]
async fn a_file_that_cannot_be_executed_settles_with_its_own_reason_and_no_shell_runs_it() {
    let rig = Rig::new(
        json!({ "allowedExecutables": ["./plain", "./missing", "./dir", "./locked", "./lost", "nowhere"] }),
    );
    let work = rig.work();
    script(&work.join("plain"), "echo a shell ran this\n");
    std::fs::create_dir(work.join("dir")).unwrap();
    std::fs::write(work.join("locked"), "#!/bin/sh\n").unwrap();
    script(&work.join("lost"), "#!/no/such/interpreter\n");
    let mut reasons = std::collections::HashSet::new();
    for name in ["./plain", "./missing", "./dir", "./locked", "./lost", "nowhere"] {
        let status = rig.run(json!([name]), json!({})).await;
        let error = status["error"].as_str().unwrap().to_owned();
        assert!(error.contains("could not be started: "), "{name}: {error}");
        assert_eq!(
            (&status["cause"], &status["state"]),
            (&json!("start-failed"), &json!("exited")),
            "{name}"
        );
        assert_eq!((&status["exitCode"], &status["stdoutBytes"]), (&json!(null), &json!(0)), "{name}");
        assert_eq!(status["stdout"]["sizeBytes"], 0, "{name}");
        let reason =
            error.split_once("could not be started: ").unwrap().1.replace(name.trim_start_matches("./"), "");
        assert!(reasons.insert(reason), "{name} has the reason of another: {error}");
    }
}

#[tokio::test]
async fn a_pinned_binary_runs_while_it_has_its_digest_and_no_longer() {
    let rig = Rig::without_policy(json!({}));
    let path = rig.work().join("tool");
    std::fs::copy("/bin/true", &path).unwrap();
    let pin = digest(std::fs::read(&path).unwrap());
    rig.set_policy(json!({ "allowedExecutables": [{ "path": path, "sha256": pin }] }));
    let status = rig.run(json!([path]), json!({})).await;
    assert_eq!(status["exitCode"], 0, "{status:#}");
    std::fs::remove_file(&path).unwrap();
    std::fs::copy("/bin/false", &path).unwrap();
    let (code, message) = refusal(rig.try_start(json!([path]), json!({})).await);
    assert_eq!(code, "ERR_EXECUTABLE_CHANGED");
    assert!(message.contains(&pin), "{message}");
}

#[tokio::test]
async fn a_pinned_script_keeps_its_name_and_is_refused_once_it_has_changed() {
    let rig = Rig::without_policy(json!({}));
    let path = rig.work().join("tool");
    let text = "#!/bin/sh\necho \"$0\"\n";
    script(&path, text);
    rig.set_policy(json!({ "allowedExecutables": [{ "path": path, "sha256": digest(text) }] }));
    let task = rig.start(json!([path]), json!({})).await;
    rig.settled(&task).await;
    assert_eq!(String::from_utf8(rig.bytes(&task, "stdout")).unwrap(), format!("{}\n", path.display()));
    script(&path, "#!/bin/sh\necho changed\n");
    assert_eq!(refusal(rig.try_start(json!([path]), json!({})).await).0, "ERR_EXECUTABLE_CHANGED");
}

#[tokio::test]
async fn a_program_that_was_missing_is_found_once_it_is_there() {
    let rig = Rig::without_policy(json!({}));
    let bin = rig.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let policy = json!({ "allowedExecutables": ["late"], "cwdRoot": rig.work() });
    let env = json!({ "PATH": bin });
    rig.host.set_policy(&crate::support::value(policy), &crate::support::value(env)).unwrap();
    assert_eq!(rig.run(json!(["late"]), json!({})).await["cause"], "start-failed");
    script(&bin.join("late"), "#!/bin/sh\nexit 7\n");
    assert_eq!(rig.run(json!(["late"]), json!({})).await["exitCode"], 7);
}
