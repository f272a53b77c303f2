//! Only listed files are executed, whoever in the tree asks.

use serde_json::json;

use crate::attempt::{Field, expected, perl, real, sh};

fn only(names: &[&str]) -> serde_json::Value {
    json!({ "level": "required", "execute": names })
}

#[tokio::test]
async fn find_may_start_and_what_it_execs_may_not() {
    assert!(expected(2));
    let field = Field::new();
    let argv = json!(["find", ".", "-maxdepth", "0", "-exec", "/bin/sh", "-c", "echo escaped", ";"]);
    field.is_stopped(only(&["find"]), argv.clone()).await;
    let allowed = json!({ "allowedExecutables": ["find"], "confinement": { "level": "required", "execute": "allowed" } });
    field.rig.set_policy(allowed);
    let status = field.rig.run(argv, json!({})).await;
    assert_eq!(status["stdoutBytes"], 0, "{status:#}");
    assert!(status["tailPreview"].as_str().unwrap().contains("Permission denied"), "{status:#}");
    let listed = status["confinement"]["executables"].as_array().unwrap();
    assert!(listed.contains(&json!(real("find"))), "{listed:?}");
    assert!(!listed.contains(&json!(real("sh"))), "{listed:?}");
}

#[tokio::test]
async fn an_interpreter_executes_nothing_else() {
    let field = Field::new();
    field.is_stopped(only(&["perl"]), perl("exec '/bin/echo', 'escaped'")).await;
    field.is_stopped(only(&["sh"]), sh("exec /bin/echo escaped")).await;
    let (_, text) = field.run(Some(&only(&["sh", "echo"])), &sh("/bin/echo went on")).await;
    assert_eq!(text, "went on\n");
}

#[tokio::test]
async fn neither_a_copy_nor_another_file_of_an_allowed_name_is_executed() {
    let field = Field::new();
    let copy = "open my $i, '<', '/bin/echo'; open my $o, '>', './find'; local $/; print {$o} <$i>; close $o; \
                chmod 0755, 'find'; exec './find', 'escaped'";
    field.is_stopped(only(&["perl", "find"]), perl(copy)).await;
    let tool = field.rig.work().join("tool");
    let put = || {
        std::fs::copy("/bin/true", &tool).unwrap();
        std::fs::copy("/bin/echo", field.rig.work().join("other")).unwrap();
    };
    put();
    let argv = perl("rename 'other', 'tool'; exec './tool', 'escaped'");
    let (_, free) = field.run(None, &argv).await;
    assert!(free.contains("escaped"), "{free}");
    put();
    let tool = tool.to_str().unwrap();
    field.is_stopped_without_twin(only(&["perl", tool]), argv).await;
}

#[tokio::test]
async fn a_script_runs_by_the_interpreter_that_it_had() {
    let field = Field::new();
    let script = field.rig.work().join("script");
    crate::support::script(&script, "#!/bin/sh\necho escaped\n");
    field.is_stopped(only(&["perl"]), perl("exec './script'")).await;
    let path = script.to_str().unwrap();
    let (_, text) = field.run(Some(&only(&["perl", path])), &perl("exec './script'")).await;
    assert_eq!(text, "escaped\n", "a listed script brings its interpreter along");
    let rewrite = sh(r#"printf '#!/usr/bin/perl\nprint "escaped"' > script; ./script"#);
    let (_, free) = field.run(None, &rewrite).await;
    assert!(free.contains("escaped"), "{free}");
    crate::support::script(&script, "#!/bin/sh\n");
    field.is_stopped_without_twin(only(&["sh", path]), rewrite).await;
}

#[tokio::test]
async fn a_memory_file_is_not_executed() {
    let field = Field::new();
    let script = format!(
        "my $n = 'x'; my $fd = syscall({}, $n, 0); die $! if $fd < 0; open my $m, '+>&=', $fd; \
         open my $i, '<', '/bin/echo'; {{ local $/; print {{$m}} <$i>; }} $m->flush; $^F = 99; \
         exec \"/proc/$$/fd/$fd\", 'escaped'",
        libc::SYS_memfd_create
    );
    field.is_stopped(only(&["perl"]), perl(&format!("use IO::Handle; {script}"))).await;
}

fn loader() -> Option<String> {
    let found = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1"];
    found.into_iter().find(|path| std::fs::exists(path).unwrap()).map(str::to_owned)
}

#[tokio::test]
async fn the_loader_runs_what_may_be_read_and_nothing_else() {
    let field = Field::new();
    let loader = loader().expect("a loader of this machine");
    let argv = perl(&format!("exec '{loader}', '/bin/echo', 'escaped'"));
    let with_reading = json!({ "level": "required", "execute": ["perl"], "read": ["."] });
    field.is_stopped(with_reading, argv.clone()).await;
    field.gets_through(only(&["perl"]), argv).await;
}

#[tokio::test]
async fn a_library_from_outside_of_what_may_be_read_is_not_loaded() {
    let field = Field::new();
    let source = field.outside.join("evil.c");
    std::fs::write(
        &source,
        "#include <unistd.h>\n__attribute__((constructor)) static void f(void) { write(1, \"escaped\\n\", 8); }\n",
    )
    .unwrap();
    let library = field.outside.join("evil.so");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(built.success());
    let preload = |library: &std::path::Path| sh(&format!("LD_PRELOAD={} perl -e 1", library.display()));
    let confinement = json!({ "level": "required", "execute": ["sh", "perl"], "read": ["."] });
    field.is_stopped(confinement.clone(), preload(&library)).await;
    let inside = field.rig.work().join("evil.so");
    std::fs::copy(&library, &inside).unwrap();
    field.gets_through(confinement, preload(&inside)).await;
}

#[tokio::test]
async fn what_is_given_as_input_is_not_executed() {
    let field = Field::new();
    let input: Vec<u8> = std::fs::read("/bin/echo").unwrap();
    let options =
        argvault::input::Value::Record(vec![("input".into(), argvault::input::Value::Bytes(input))]);
    let script = perl("exec '/proc/self/fd/0', 'escaped'; ");
    field.rig.set_policy(json!({ "allowedExecutables": ["perl"], "confinement": only(&["perl"]) }));
    let host = &field.rig.host;
    let cancel = argvault::host::Cancel::never();
    let reply = host
        .start(host.policy(), crate::support::value(script), options, crate::support::environment(), cancel)
        .await
        .unwrap();
    let task = crate::support::reply_json(&reply)["taskId"].as_str().unwrap().to_owned();
    drop(reply);
    let status = field.rig.settled(&task).await;
    assert_eq!(status["stdoutBytes"], 0, "{status:#}");
}
