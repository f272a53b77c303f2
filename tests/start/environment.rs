//! What the program gets: environment, standard input, directory, descriptors.

use serde_json::json;

use crate::support::Rig;

#[tokio::test]
async fn an_environment_replaces_and_an_empty_one_is_empty() {
    let rig = Rig::new(json!({ "allowedExecutables": ["/usr/bin/env"] }));
    for (env, expected) in [(json!({}), ""), (json!({ "A": "1", "B": "x=y z" }), "A=1\nB=x=y z\n")] {
        let task = rig.start(json!(["/usr/bin/env"]), json!({ "env": env })).await;
        rig.settled(&task).await;
        assert_eq!(String::from_utf8(rig.bytes(&task, "stdout")).unwrap(), expected);
    }
}

#[tokio::test]
async fn the_callers_path_does_not_choose_the_program() {
    let rig = Rig::new(json!({}));
    let bin = rig.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    crate::support::script(&bin.join("echo"), "#!/bin/sh\nprintf planted\n");
    let task = rig.start(json!(["echo", "real"]), json!({ "env": { "PATH": bin } })).await;
    rig.settled(&task).await;
    assert_eq!(rig.bytes(&task, "stdout"), b"real\n");
}

#[tokio::test]
async fn standard_input_is_what_was_given_and_end_of_file_otherwise() {
    let rig = Rig::new(json!({}));
    for (options, expected) in [(json!({}), ""), (json!({ "input": "one\ntwo" }), "one\ntwo")] {
        let task = rig.start(json!(["cat"]), options).await;
        rig.settled(&task).await;
        assert_eq!(String::from_utf8(rig.bytes(&task, "stdout")).unwrap(), expected);
    }
}

#[tokio::test]
async fn a_program_that_never_reads_a_large_input_costs_nothing() {
    let rig = Rig::new(json!({}));
    let status = rig.run(json!(["true"]), json!({ "input": "x".repeat(32 << 20) })).await;
    assert_eq!(status["exitCode"], 0, "{status:#}");
}

#[tokio::test]
async fn the_program_has_descriptors_0_to_2_default_signals_and_a_session_of_its_own() {
    let rig = Rig::new(json!({ "allowedExecutables": ["sh", "/bin/sh"] }));
    let look = "ls /proc/self/fd | tr '\\n' ' '; grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status | tr -d '\\n\\t'; \
                cut -d' ' -f6 /proc/$$/stat; echo $$";
    let task = rig.start(json!(["sh", "-c", look]), json!({})).await;
    rig.settled(&task).await;
    let text = String::from_utf8(rig.bytes(&task, "stdout")).unwrap();
    // `ls` itself holds one more: the directory that it lists.
    assert!(text.starts_with("0 1 2 3 "), "{text}");
    assert!(text.contains("SigBlk:0000000000000000SigIgn:0000000000000000"), "{text}");
    let numbers: Vec<&str> = text.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    let (session, pid) = (numbers[0].trim_start_matches(|c: char| !c.is_ascii_digit()), numbers[1]);
    assert!(session.ends_with(pid), "session {session}, pid {pid}");
}

#[tokio::test]
async fn the_vaults_descriptors_do_not_reach_the_program() {
    let rig = Rig::new(json!({}));
    let task = rig.start(json!(["sh", "-c", "ls -l /proc/self/fd"]), json!({})).await;
    rig.settled(&task).await;
    let text = String::from_utf8(rig.bytes(&task, "stdout")).unwrap();
    assert!(!text.contains("vault"), "{text}");
}
