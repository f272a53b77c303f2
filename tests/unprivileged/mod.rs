//! Permission tests hold for root too: root is never refused, so the test runs once more as nobody.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const NOBODY: &str = "65534";

/// Whether the caller should go on with its body. As root it does not: the test `name` of this binary is run as
/// nobody, and its failure is this one's. The binary is copied, since nobody may not reach the target directory.
pub(crate) fn go_on(name: &str) -> bool {
    if !nix::unistd::geteuid().is_root() {
        return true;
    }
    let temp = tempfile::tempdir_in("/tmp").unwrap();
    let scratch = temp.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let binary = temp.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    set_mode(temp.path(), 0o755);
    set_mode(&scratch, 0o777);
    set_mode(&binary, 0o755);
    let output = Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"])
        .arg(&binary)
        .args(["--exact", name, "--nocapture"])
        .env("TMPDIR", &scratch)
        .current_dir("/")
        .output()
        .expect("setpriv (util-linux) is needed to run permission tests as root");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "as nobody:\n{stdout}\n{stderr}");
    false
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
