//! Descriptors, processes, disk: each shortage has a name, leaves nothing, and is over when there is room again.

use serde_json::{Value as Json, json};

use crate::hosted::Setting;
use crate::rig::{Place, Rig, is_root};

/// A user that nobody else runs processes as, this test apart.
fn lone_user() -> u32 {
    100_000 + std::process::id() % 1_000_000
}

/// Each try either ran or was refused as a shortage; the ones that ran are all that the vault holds.
fn assert_refused_or_ran(result: &Json) {
    let tries = result["tries"].as_array().unwrap();
    let mut ran: Vec<&Json> = vec![&result["after"]["taskId"]];
    for one in tries {
        if let Some(code) = one["code"].as_str() {
            assert_eq!(code, "ERR_RESOURCES", "{one:#}");
        } else {
            assert_eq!(one["cause"], "exit", "{one:#}");
            ran.push(&one["task"]);
        }
    }
    assert!(tries.iter().any(|one| one["code"].is_string()), "no try was a shortage: {tries:#?}");
    assert!(tries.last().unwrap()["task"].is_string(), "there never was room: {tries:#?}");
    assert_eq!(result["after"]["exitCode"], 0);
    let folders = result["folders"].as_array().unwrap();
    let extra: Vec<&Json> = folders.iter().filter(|folder| !ran.contains(folder)).collect();
    assert!(extra.len() <= 2, "folders of nothing that ran: {extra:?} in {result:#}"); // the runs before the shortage
}

#[test]
fn a_host_out_of_descriptors_refuses_by_name_and_leaves_nothing() {
    for warm in [true, false] {
        let place = Place::default();
        let act = json!({ "do": "starve descriptors", "warm": warm });
        let mut host = place.host(&act, &json!({}), &Setting::default());
        let result = place.hosted_result(&mut host);
        assert_refused_or_ran(&result);
        if warm {
            assert_eq!(result["grown"], 0, "{result:#}");
        }
    }
}

#[test]
fn a_user_out_of_processes_is_refused_by_name_and_leaves_nothing_which_needs_root_to_show() {
    if !is_root() {
        return;
    }
    let place = Place::default();
    let setting = Setting { user: Some(lone_user()), wrapper: None };
    let mut host = place.host(&json!({ "do": "starve processes" }), &json!({}), &setting);
    assert_refused_or_ran(&place.hosted_result(&mut host));
    assert_eq!(place.survivors(), [0; 0]);
}

#[test]
fn a_disk_that_is_full_ends_the_command_by_name_and_its_record_is_written_which_needs_root_to_show() {
    if !is_root() {
        return;
    }
    let place = Place::default();
    let mount =
        format!("mount -t tmpfs -o size=1m,mode=700 none '{}' && exec \"$@\"", place.vault().display());
    let setting = Setting {
        user: None,
        wrapper: Some(format!("exec unshare -m sh -c '{}' sh \"$@\"", mount.replace('\'', "'\\''"))),
    };
    let mut host = place.host(&json!({ "do": "fill the vault" }), &json!({}), &setting);
    let result = place.hosted_result(&mut host);
    let full = &result["full"];
    assert_eq!((&full["state"], &full["cause"]), (&json!("killed"), &json!("storage")), "{result:#}");
    assert!(full["error"].as_str().unwrap().contains("No space left"), "{full:#}");
    assert_eq!(full["stdoutBytes"], result["stored"]);
    assert!(result["stored"].as_u64().unwrap() > 500_000, "{result:#}");
    assert_eq!(result["records"], 1);
    assert_eq!(result["refused"][0], "ERR_VAULT_FULL", "{result:#}");
    assert_eq!(result["folders"].as_array().unwrap().len(), 1, "{result:#}");
    assert_eq!((&result["after"]["exitCode"], &result["after"]["stdoutBytes"]), (&json!(0), &json!(4)));
}

#[test]
fn a_file_that_may_not_grow_ends_the_command_by_name_and_its_record_is_written() {
    let place = Place::default();
    let mut host = place.host(&json!({ "do": "write small files only" }), &json!({}), &Setting::default());
    let result = place.hosted_result(&mut host);
    let full = &result["full"];
    assert_eq!((&full["state"], &full["cause"]), (&json!("killed"), &json!("storage")), "{result:#}");
    assert!(full["error"].as_str().unwrap().contains("File too large"), "{full:#}");
    assert_eq!(full["stdoutBytes"], 100_000);
    assert_eq!((&result["records"], &result["after"]["stdoutBytes"]), (&json!(2), &json!(5)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vault_that_is_removed_underneath_costs_no_outcome_and_the_next_start_makes_it_anew() {
    let rig = Rig::new();
    let task = rig.sh("echo ok > $MARKS/up; while [ ! -e $MARKS/go ]; do sleep 0.02; done; exit 4").await;
    rig.marked("up");
    rig.until("the folder that is made ahead", || rig.vault().join(".next/stderr").exists());
    std::fs::remove_dir_all(rig.vault()).unwrap();
    std::fs::write(rig.mark("go"), "").unwrap();
    let status = rig.wait(&task).await;
    assert_eq!((&status["cause"], &status["exitCode"]), (&json!("exit"), &json!(4)), "{status:#}");
    assert_eq!(rig.status(&task)["exitCode"], 4);
    rig.assert_gone();
    let next = rig.run_sh("exit 5").await;
    assert_eq!(next["exitCode"], 5);
    assert_eq!(rig.records().len(), 1);
}

#[test]
fn a_cgroup_that_can_be_made_and_not_entered_leaves_the_subreaper_which_needs_root_to_show() {
    let parent = "/sys/fs/cgroup/unified";
    let name = format!("{parent}/not-entered-{}", std::process::id());
    if !is_root() || std::fs::create_dir(&name).is_err() {
        return;
    }
    let place = Place::default();
    let user = lone_user();
    // The directory is the user's, its `cgroup.procs` is not: leaves can be made, and nobody can be moved.
    std::os::unix::fs::chown(&name, Some(user), Some(user)).unwrap();
    let setting =
        Setting { user: Some(user), wrapper: Some(format!("echo $$ > {name}/cgroup.procs; exec \"$@\"")) };
    let mut host = place.host(&json!({ "do": "run", "argv": ["sh", "-c", "exit 3"] }), &json!({}), &setting);
    let result = place.hosted_result(&mut host);
    place.until("the cgroup's end", || std::fs::remove_dir(&name).is_ok());
    assert_eq!((&result["exitCode"], &result["containment"]), (&json!(3), &json!("subreaper")), "{result:#}");
}
