//! What somebody put into the vault's directory is not followed, not believed, and not removed.

use std::os::unix::fs::symlink;

use argvault::input::Value;
use argvault::vault::id::TaskId;
use serde_json::json;

use crate::place::{Place, code, json, settled, start, value};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_in_the_place_of_a_folder_is_no_task() {
    let (place, other) = (Place::new(), Place::new());
    let (host, there) = (place.host(), other.host());
    let task = start(&there, "echo secret").await.unwrap();
    settled(&there, &task).await;
    settled(&host, &start(&host, "true").await.unwrap()).await;
    symlink(other.folder(&task), place.folder(&task)).unwrap();

    assert_eq!(code(host.status(&task)), "ERR_UNKNOWN_TASK");
    assert_eq!(code(host.read_output(&task, &Value::Absent)), "ERR_UNKNOWN_TASK");
    assert_eq!(code(host.follow(&task, &Value::Absent)), "ERR_UNKNOWN_TASK");
    assert!(host.read_artifact(&format!("{task}-stdout")).unwrap().is_none());
    assert_eq!(json(&host.list(&Value::Absent).unwrap())["commands"].as_array().unwrap().len(), 1);
    host.cleanup(&value(json!({ "maxBytes": 0 }))).unwrap();
    assert_eq!(place.names(), [&*task], "the link is not ours to remove");
    assert_eq!(there.read_artifact(&format!("{task}-stdout")).unwrap().unwrap(), "secret\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_none_is_neither_followed_nor_waited_for() {
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "echo mine").await.unwrap();
    settled(&host, &task).await;
    let secret = place.dir.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| place.folder(&task).join(name));
    for path in [&stdout, &stderr] {
        std::fs::remove_file(path).unwrap();
    }
    symlink(&secret, &stdout).unwrap();
    nix::unistd::mkfifo(&stderr, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for stream in ["stdout", "stderr"] {
        let options = value(json!({ "stream": stream }));
        assert_eq!(code(host.read_output(&task, &options)), "ERR_VAULT_UNAVAILABLE", "{stream}");
        assert_eq!(code(host.follow(&task, &options)), "ERR_VAULT_UNAVAILABLE", "{stream}");
        assert_eq!(code(host.read_artifact(&format!("{task}-{stream}"))), "ERR_VAULT_UNAVAILABLE");
    }
    assert_eq!(json(&host.status(&task).unwrap())["state"], "exited");

    std::fs::remove_file(place.folder(&task).join("record.json")).unwrap();
    symlink(&secret, place.folder(&task).join("record.json")).unwrap();
    assert_eq!(code(host.status(&task)), "ERR_VAULT_UNAVAILABLE");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_users_folder_is_left_alone() {
    if !nix::unistd::geteuid().is_root() {
        return; // only root can give something away
    }
    let place = Place::new();
    let host = place.host();
    let task = start(&host, "echo x").await.unwrap();
    settled(&host, &task).await;
    let nobody = Some(nix::unistd::Uid::from_raw(65_534));
    nix::unistd::chown(&place.folder(&task), nobody, None).unwrap();
    assert_eq!(code(host.status(&task)), "ERR_UNKNOWN_TASK");
    let cleaned = json(&host.cleanup(&value(json!({ "maxBytes": 0, "olderThanMs": 0 }))).unwrap());
    assert_eq!(cleaned["removed"], 0);
    assert_eq!(place.names(), [task]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_is_no_record_is_told_and_breaks_no_list() {
    let place = Place::new();
    let host = place.host();
    let (bad, good) = (start(&host, "echo x").await.unwrap(), start(&host, "echo y").await.unwrap());
    for task in [&bad, &good] {
        settled(&host, task).await;
    }
    std::fs::write(place.folder(&bad).join("record.json"), "{").unwrap();
    assert_eq!(code(host.status(&bad)), "ERR_VAULT_UNAVAILABLE");
    let listed = json(&host.list(&Value::Absent).unwrap());
    assert_eq!(listed["commands"][0]["taskId"], good);
    assert!(TaskId::parse(&bad).is_some());
    assert_eq!(json(&host.cleanup(&value(json!({ "maxBytes": 0 }))).unwrap())["removed"], 2);
}
