//! Only listed paths are read and written.

use serde_json::{Value as Json, json};

use crate::attempt::{Field, expected, perl, sh};

fn workspace() -> Json {
    json!("workspace")
}

#[tokio::test]
async fn secrets_outside_of_the_workspace_are_not_read() {
    assert!(expected(3));
    let field = Field::new();
    let ssh = field.outside.join("home/.ssh");
    std::fs::create_dir_all(&ssh).unwrap();
    std::fs::write(ssh.join("id_ed25519"), "escaped").unwrap();
    let key = ssh.join("id_ed25519");
    field.is_stopped(workspace(), json!(["cat", key])).await;
    field
        .is_stopped(workspace(), perl(&format!("print 'escaped' if opendir my $d, '{}'", ssh.display())))
        .await;
    std::os::unix::fs::symlink(&key, field.rig.work().join("link")).unwrap();
    field.is_stopped(workspace(), json!(["cat", "link"])).await;
    let linked = format!("ln '{}' hard && cat hard", key.display());
    field.is_stopped(workspace(), sh(&linked)).await;
    let readable = std::fs::read("/etc/shadow").is_ok();
    let shadow = perl("print 'escaped' if open my $f, '<', '/etc/shadow'");
    if readable {
        field.is_stopped(workspace(), shadow).await;
    } else {
        field.is_stopped_without_twin(workspace(), shadow).await;
    }
}

#[tokio::test]
async fn nothing_is_written_outside_by_any_way() {
    let field = Field::new();
    let outside = field.outside.display();
    std::fs::write(field.outside.join("victim"), "as it was").unwrap();
    std::os::unix::fs::symlink(&field.outside, field.rig.work().join("out")).unwrap();
    let attempts = [
        format!("echo x > {outside}/new && echo escaped"),
        "echo x > out/new2 && echo escaped".to_owned(),
        format!("echo x > made && mv made {outside}/moved && echo escaped"),
        format!("echo x > made && ln made {outside}/linked && echo escaped"),
        format!("ln {outside}/victim taken && echo x >> taken && echo escaped"),
        format!("mkdir {outside}/dir && echo escaped"),
        format!("perl -e 'unlink \"{outside}/new\" and print \"escaped\"'"),
        format!("perl -e 'truncate(\"{outside}/victim\", 0) and print \"escaped\"'"),
        format!("perl -e 'symlink(\"x\", \"{outside}/sym\") and print \"escaped\"'"),
    ];
    for attempt in attempts {
        field.is_stopped(workspace(), sh(&attempt)).await;
        for name in ["moved", "linked", "dir", "sym", "new2"] {
            let path = field.outside.join(name);
            let _ = std::fs::remove_dir(&path).or_else(|_| std::fs::remove_file(&path));
        }
        let _ = std::fs::remove_file(field.rig.work().join("made"));
        let _ = std::fs::remove_file(field.rig.work().join("taken"));
        std::fs::write(field.outside.join("new"), "x").unwrap();
    }
}

#[tokio::test]
async fn the_vault_is_out_of_reach() {
    let field = Field::new();
    let vault = field.rig.vault();
    let (first, _) = field.run(Some(&workspace()), &sh("echo one")).await;
    let record = vault.join(first["taskId"].as_str().unwrap()).join("record.json");
    let argv = sh(&format!("echo >> {} && echo escaped", record.display()));
    field.is_stopped_without_twin(workspace(), argv).await;
    assert!(!std::fs::read(record).unwrap().ends_with(b"\n"));
}

#[tokio::test]
async fn read_only_writes_its_own_temporary_directory_and_nothing_else() {
    let field = Field::new();
    let read_only = json!("read-only");
    std::fs::write(field.rig.work().join("file"), "text").unwrap();
    for attempt in [
        "echo x >> file && echo escaped",
        "echo x > new && echo escaped",
        "perl -e 'chmod(0700, \"file\") and print \"escaped\"'",
        "perl -e 'utime(1, 1, \"file\") and print \"escaped\"'",
        "perl -e 'chown($<, $<, \"file\") and print \"escaped\"'",
    ] {
        field.is_stopped(read_only.clone(), sh(attempt)).await;
    }
    let good = sh(
        "cat file; echo y > $TMPDIR/y; mkdir $TMPDIR/d; mv $TMPDIR/y $TMPDIR/d/z; cat $TMPDIR/d/z; echo > /dev/null",
    );
    std::fs::write(field.rig.work().join("file"), "text\n").unwrap();
    assert_eq!(field.run(Some(&read_only), &good).await.1, "text\ny\n");
}

#[tokio::test]
async fn renames_and_links_within_the_workspace_go_on() {
    let field = Field::new();
    let good = sh(
        "mkdir -p a b && echo text > a/f && mv a/f b/g && ln b/g a/h && mv b c && cat c/g a/h && echo x > $TMPDIR/t && mv $TMPDIR/t .",
    );
    assert_eq!(field.run(Some(&workspace()), &good).await.1, "text\ntext\n");
    let execute = json!({ "level": "required", "execute": ["sh", "mv", "mkdir"] });
    let good = sh(
        "mkdir d && mv a/h d/i && mv d /tmp/argvault-renamed-$$ && mv /tmp/argvault-renamed-$$ e && echo fine",
    );
    assert_eq!(field.run(Some(&execute), &good).await.1, "fine\n");
}

#[tokio::test]
async fn no_device_is_made() {
    let field = Field::new();
    let number = libc::SYS_mknodat;
    let script = format!(
        "my $p = 'disk'; my $r = syscall({number}, -100, $p, 0060600, 0x700); print 'escaped' if !$r;"
    );
    let (_, free) = field.run(None, &perl(&script)).await;
    assert!(free.contains("escaped") || !nix::unistd::geteuid().is_root(), "{free}");
    let _ = std::fs::remove_file(field.rig.work().join("disk"));
    field.is_stopped_without_twin(workspace(), perl(&script)).await;
}

#[tokio::test]
async fn a_link_put_in_the_place_of_a_granted_directory_leads_nowhere() {
    let field = Field::new();
    std::fs::write(field.outside.join("secret"), "escaped").unwrap();
    let data = field.rig.work().parent().unwrap().join("data");
    std::fs::create_dir(&data).unwrap();
    let confinement = json!({ "level": "required", "read": [".", data] });
    field.rig.set_policy(json!({ "confinement": confinement }));
    std::fs::remove_dir(&data).unwrap();
    std::os::unix::fs::symlink(&field.outside, &data).unwrap();
    let status = field.rig.run(json!(["cat", data.join("secret")]), json!({})).await;
    assert_ne!(status["exitCode"], 0, "{status:#}");

    let inside = field.rig.work().join("sub");
    std::os::unix::fs::symlink(&field.outside, &inside).unwrap();
    field.rig.set_policy(json!({ "confinement": { "level": "required", "read": ["sub"] } }));
    let (code, message) = crate::support::refusal(field.rig.try_start(json!(["true"]), json!({})).await);
    assert_eq!(code, "ERR_CONFINEMENT_UNAVAILABLE");
    assert!(message.contains("outside the permitted root"), "{message}");
}
