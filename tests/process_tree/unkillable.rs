//! What can't be ended is named, and not waited for.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hosted::Setting;
use crate::rig::{Place, is_root, signal};

/// As another user than root, a command starts a set-uid program that becomes root for good: neither its keeper nor
/// anybody else of that user may signal it.
#[test]
fn a_process_of_another_user_is_named_and_the_rest_of_the_tree_ends_which_needs_root_to_show() {
    if !is_root() {
        return;
    }
    let place = Place::default();
    let user = 100_000 + std::process::id() % 1_000_000;
    // Beside the place, whose files all become the user's.
    let temp = tempfile::tempdir().unwrap();
    std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let elevated = temp.path().join("elevated");
    let setpriv = std::env::var("PATH").unwrap();
    let setpriv =
        setpriv.split(':').map(|dir| format!("{dir}/setpriv")).find(|path| std::fs::exists(path).unwrap());
    std::fs::copy(setpriv.expect("setpriv (util-linux) is needed"), &elevated).unwrap();
    std::fs::set_permissions(&elevated, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let script = format!(
        "{} --reuid 0 --clear-groups sh -c 'echo $$ > $MARKS/root; exec sleep 60' & sleep 100 & \
         while [ ! -s $MARKS/root ]; do sleep 0.02; done; echo ok > $MARKS/up; sleep 100",
        elevated.display()
    );
    let act = json!({ "do": "start and kill", "argv": ["sh", "-c", script] });
    let begun = Instant::now();
    let mut host = place.host(&act, &json!({}), &Setting { user: Some(user), wrapper: None });
    let root = place.marked_pid("root");
    let owner = std::fs::metadata(format!("/proc/{root}")).unwrap().uid();
    assert_eq!(owner, 0, "the temporary directory takes no set-uid programs");
    let status = place.hosted_result(&mut host);
    assert!(begun.elapsed() > Duration::from_secs(10));
    assert_eq!((&status["cause"], &status["state"]), (&json!("kill"), &json!("killed")), "{status:#}");
    assert_eq!(status["unkillable"], json!([{ "pid": root, "name": "sleep" }]), "{status:#}");
    assert!(status.get("outputHeldOutside").is_none(), "{status:#}");
    assert_eq!(place.survivors(), [root]);
    assert_eq!(place.records().len(), 1);
    signal(root, nix::sys::signal::Signal::SIGKILL);
    place.until("its end", || place.survivors().is_empty());
}
