//! A warden that is missing, not executable, no warden at all, or of another version.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use argvault::host::{Cancel, CommandHost};
use argvault::supervisor::launch::Supervisor;
use serde_json::json;

use crate::support::{Announced, environment, refusal, reply_json, script, value};

async fn start_with(warden: PathBuf) -> Result<serde_json::Value, argvault::error::Error> {
    let dir = tempfile::tempdir().unwrap();
    let options = value(json!({ "vaultDir": dir.path().join("vault") }));
    let supervisor = Arc::new(Supervisor::new(warden));
    let host =
        CommandHost::new(&options, &environment(), supervisor, Box::new(Announced::default())).unwrap();
    host.set_policy(&value(json!({ "allowedExecutables": ["true"], "cwdRoot": dir.path() })), &environment())
        .unwrap();
    let reply = host
        .start(host.policy(), value(json!(["true"])), value(json!({})), environment(), Cancel::never())
        .await?;
    Ok(reply_json(&reply))
}

#[tokio::test]
async fn a_warden_that_cannot_serve_is_a_typed_error_that_says_how_to_rebuild() {
    let dir = tempfile::tempdir().unwrap();
    let not_executable = dir.path().join("not-executable");
    std::fs::write(&not_executable, "x").unwrap();
    let no_binary = dir.path().join("no-binary");
    std::fs::write(&no_binary, "x").unwrap();
    std::fs::set_permissions(&no_binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ends_at_once = dir.path().join("ends-at-once");
    script(&ends_at_once, "#!/bin/sh\nexit 0\n");
    for warden in [dir.path().join("missing"), not_executable, no_binary, ends_at_once] {
        let (code, message) = refusal(start_with(warden.clone()).await);
        assert_eq!(code, "ERR_KEEPER", "{}", warden.display());
        assert!(
            message.contains(&warden.display().to_string()) && message.contains("npm run build"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_warden_of_another_version_is_named_with_both_versions() {
    let dir = tempfile::tempdir().unwrap();
    let warden = dir.path().join("other-version");
    // A copy of the real one whose version string was changed in place: same length, so nothing moves.
    let own = env!("CARGO_PKG_VERSION");
    let other = own.replace(|c: char| c.is_ascii_digit(), "9");
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_argvault-warden")).unwrap();
    let needle = format!("argvault warden {own}");
    let mut found = 0;
    while let Some(at) = bytes.windows(needle.len()).position(|window| window == needle.as_bytes()) {
        let version = at + needle.len() - own.len();
        bytes[version..at + needle.len()].copy_from_slice(other.as_bytes());
        found += 1;
    }
    assert!(found > 0, "the version stands in the binary");
    std::fs::write(&warden, bytes).unwrap();
    std::fs::set_permissions(&warden, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, message) = refusal(start_with(warden).await);
    assert_eq!(code, "ERR_KEEPER");
    assert!(
        message.contains(own) && message.contains(&other) && message.contains("npm run build"),
        "{message}"
    );
}
