//! The temporary directory of a command whose keeper was killed.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::attempt::{Field, sh};

/// Signals aren't held, so that the command can kill its own keeper.
fn bare(keep: bool) -> Json {
    json!({ "level": "required", "keepTmp": keep })
}

/// Fills `$TMPDIR` with what is hard to remove.
const FILL: &str = "cd $TMPDIR && mkdir -p a/b/c/d/e/f/g/h/i/j/k && ln -s / a/root && touch a/b/file && \
                    i=0; while [ $i -lt 2000 ]; do : > f$i; i=$((i+1)); done; chmod 0 a/b .; ";
const KEEPER: &str = "kill -9 $PPID; sleep 60";
/// The warden too, whose id is the fourth field of the keeper's `stat`.
const BOTH: &str = "read -r _ _ _ warden _ < /proc/$PPID/stat; kill -9 $warden $PPID; sleep 60";

async fn lost(keep: bool, fill: &str, kill: &str) -> (Field, PathBuf) {
    let field = Field::new();
    let (status, _) = field.run(Some(&bare(keep)), &sh(&format!("{fill}{kill}"))).await;
    assert_eq!(status["cause"], "keeper-lost", "{status:#}");
    assert!(status["tmpDir"].is_null() || keep, "{status:#}");
    let tmp = field.rig.vault().join(status["taskId"].as_str().unwrap()).join("tmp");
    (field, tmp)
}

#[tokio::test]
async fn goes_by_the_time_the_command_is_settled() {
    let (_field, tmp) = lost(false, FILL, KEEPER).await;
    assert!(!tmp.exists());
}

#[tokio::test]
async fn stays_where_it_was_to_be_kept() {
    let (_field, tmp) = lost(true, "echo x > $TMPDIR/file; ", KEEPER).await;
    assert!(tmp.join("file").exists());
}

#[tokio::test]
async fn goes_with_whoever_writes_the_record_when_the_warden_was_killed_too() {
    let (_field, tmp) = lost(false, FILL, BOTH).await;
    assert!(!tmp.exists());
    let (_field, tmp) = lost(true, "echo x > $TMPDIR/file; ", BOTH).await;
    assert!(tmp.join("file").exists());
}

#[tokio::test]
async fn holds_up_no_other_command_while_it_goes() {
    let field = Field::new();
    field.rig.set_policy(json!({ "allowedExecutables": ["sh", "true", "perl"], "confinement": bare(false) }));
    let fill = "perl -e 'chdir $ENV{TMPDIR}; for (1 .. 1000) { open my $f, q(>), qq(f$_) }'; ";
    let lost = field.rig.start(sh(&format!("{fill}{KEEPER}")), json!({})).await;
    let others = async {
        let mut done = 0;
        while field
            .rig
            .host
            .status(&lost)
            .is_ok_and(|status| serde_json::to_value(status).unwrap()["state"] == "running")
        {
            let status = field.rig.run(json!(["true"]), json!({})).await;
            assert_eq!(status["exitCode"], 0, "{status:#}");
            done += 1;
        }
        done
    };
    let (done, status) = tokio::join!(others, field.rig.settled(&lost));
    assert_eq!(status["cause"], "keeper-lost", "{status:#}");
    assert!(done > 0);
    let tmp = field.rig.vault().join(&lost).join("tmp");
    // A second is what the settling waits for; the rest goes on going.
    crate::support::eventually("the removal", || (!tmp.exists()).then_some(())).await;
}
