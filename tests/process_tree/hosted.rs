//! Hosts that are processes of their own, so that they can die, starve or be another user.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value as Json, json};

use crate::rig::{Place, Rig, WARDEN, descriptors, own_pid};

/// Names the file with what such a process is to do.
pub const ROLE: &str = "ARGVAULT_TREE_ROLE";
/// How this test is reached from outside.
pub const PART: &[&str] = &["--exact", "hosted::a_host_that_another_test_needs", "--ignored", "--nocapture"];

/// A host as a child process; dropping it kills it.
pub struct Hosted(pub Child);

impl Drop for Hosted {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Hosted {
    pub fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }
}

/// How a hosted process is started.
#[derive(Debug, Default)]
pub struct Setting {
    /// As this user; only root can ask.
    pub user: Option<u32>,
    /// A shell script that ends in `exec "$@"`.
    pub wrapper: Option<String>,
}

impl Place {
    /// Has a host of its own process do `act`, with `more` in its policy.
    pub fn host(&self, act: &Json, more: &Json, setting: &Setting) -> Hosted {
        let (mut binary, mut warden) = (std::env::current_exe().unwrap(), PathBuf::from(WARDEN));
        if setting.user.is_some() {
            // Another user may not reach the target directory.
            (binary, warden) = (self.copy(&binary, "tests"), self.copy(&warden, "argvault-warden"));
        }
        let role = self.role(act, more, &warden);
        if let Some(user) = setting.user {
            chown_all(self.path(), user);
        }
        let mut line: Vec<String> = Vec::new();
        if let Some(wrapper) = &setting.wrapper {
            line.extend(["sh".into(), "-c".into(), wrapper.clone(), "sh".into()]);
        }
        if let Some(user) = setting.user {
            let user = user.to_string();
            line.extend(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"].map(String::from));
        }
        line.push(binary.display().to_string());
        let log = std::fs::File::create(self.path().join("host.log")).unwrap();
        let child = Command::new(&line[0])
            .args(&line[1..])
            .args(PART)
            .env(ROLE, &role)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Hosted(child)
    }

    /// The file that has a hosted process do `act`, with `more` in its policy and the warden's file at `warden`.
    pub fn role(&self, act: &Json, more: &Json, warden: &Path) -> PathBuf {
        let role = self.path().join("role.json");
        let text = json!({ "path": self.path(), "token": self.token(), "warden": warden, "act": act, "policy": more });
        std::fs::write(&role, text.to_string()).unwrap();
        role
    }

    /// What a host has found out.
    pub fn hosted_result(&self, hosted: &mut Hosted) -> Json {
        let done = || hosted.0.try_wait().unwrap().is_some();
        self.until("the end of the hosted process", done);
        let log =
            || String::from_utf8_lossy(&std::fs::read(self.path().join("host.log")).unwrap()).into_owned();
        let text = std::fs::read(self.mark("result")).unwrap_or_else(|_| panic!("no result\n{}", log()));
        serde_json::from_slice(&text).unwrap()
    }

    fn copy(&self, file: &Path, name: &str) -> PathBuf {
        let copy = self.path().join(name);
        std::fs::copy(file, &copy).unwrap();
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
        copy
    }
}

fn chown_all(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            chown_all(&entry.unwrap().path(), user);
        }
    }
}

#[test]
#[ignore = "a part that other tests run as a process of its own"]
fn a_host_that_another_test_needs() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let role: Json = serde_json::from_slice(&std::fs::read(role).unwrap()).unwrap();
    let text = |name: &str| role[name].as_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let place = Place::of_another(text("path").into(), text("token"));
        let rig = Rig::at(place, Path::new(&text("warden")), &role["policy"]);
        let act = &role["act"];
        match act["do"].as_str().unwrap() {
            "live" => live(&rig, act).await,
            "starve descriptors" => starve_descriptors(&rig, act["warm"] == true).await,
            "starve processes" => starve_processes(&rig).await,
            "fill the vault" => fill_the_vault(&rig).await,
            "write small files only" => write_small_files_only(&rig).await,
            "try" => match rig.try_start(&["true"], json!({})).await {
                Ok(task) => tell(&rig, &rig.wait(&task).await),
                Err((code, message)) => tell(&rig, &json!({ "code": code, "message": message })),
            },
            "run" => tell(&rig, &rig.run(&strings(&act["argv"])).await),
            "start and kill" => {
                let task = rig.start(&strings(&act["argv"])).await;
                rig.marked("up");
                tell(&rig, &rig.kill(&task, "SIGTERM").await);
            }
            other => panic!("no such act: {other}"),
        }
    });
}

fn strings(list: &Json) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

fn tell(rig: &Rig, result: &Json) {
    std::fs::write(rig.mark("result"), result.to_string()).unwrap();
}

/// Starts commands and comes to the end that it was given.
async fn live(rig: &Rig, act: &Json) {
    for argv in act["start"].as_array().unwrap() {
        rig.start(&strings(argv)).await;
    }
    std::fs::write(rig.mark("host"), "up\n").unwrap();
    rig.until("the word", || rig.mark("end").exists());
    match act["end"].as_str().unwrap() {
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        "panic" => panic!("an error that nobody caught"),
        "wait" => tokio::time::sleep(std::time::Duration::from_secs(60)).await,
        other => panic!("no such end: {other}"),
    }
}

/// Starts with fewer and fewer descriptors to spare.
async fn starve_descriptors(rig: &Rig, warm: bool) {
    if warm {
        rig.run(&["true"]).await;
    }
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let before = rig.at_rest(|| descriptors(own_pid()));
    let mut tries = Vec::new();
    for spare in 0..24 {
        // The listing that counted them held one more.
        let limit = before as u64 - 1 + spare;
        setrlimit(Resource::RLIMIT_NOFILE, limit, hard).unwrap();
        let started = rig.try_start(&["true"], json!({})).await;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
        tries.push(match started {
            Ok(task) => json!({ "spare": spare, "task": task, "cause": rig.wait(&task).await["cause"] }),
            Err((code, message)) => json!({ "spare": spare, "code": code, "message": message }),
        });
    }
    let after = rig.run(&["true"]).await;
    let warden = rig.warden().await;
    rig.until("the keepers' ends", || crate::rig::children(warden).is_empty());
    tell(
        rig,
        &json!({
            "tries": tries, "after": after, "folders": folders(rig),
            "grown": i64::try_from(rig.at_rest(|| descriptors(own_pid()))).unwrap() - i64::try_from(before).unwrap(),
        }),
    );
}

/// The folders of tasks.
fn folders(rig: &Rig) -> Vec<String> {
    let entries = std::fs::read_dir(rig.vault()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// Fills up this user's processes, then makes room for one, two, three.
async fn starve_processes(rig: &Rig) {
    rig.run(&["true"]).await;
    let sleeper = || Command::new("sleep").arg("60").spawn();
    let mut sleepers = Vec::new();
    // Threads count, and their number is not this test's to know: the limit is where it becomes tight by itself.
    setrlimit(Resource::RLIMIT_NPROC, 40, 40).unwrap();
    let warden = rig.warden().await;
    // The warden was made before the limit was; a new one inherits it.
    crate::rig::signal(warden, nix::sys::signal::Signal::SIGKILL);
    rig.until("the warden's end", || crate::rig::children(own_pid()).is_empty());
    rig.run(&["true"]).await;
    rig.until("the keeper's end", || rig.survivors().is_empty());
    let attempt = async |room: usize| match rig.try_start(&["true"], json!({})).await {
        Ok(task) => json!({ "room": room, "task": task, "cause": rig.wait(&task).await["cause"] }),
        Err((code, message)) => json!({ "room": room, "code": code, "message": message }),
    };
    let mut tries = Vec::new();
    // Again where there was room after all: an idle thread, or a keeper that was forked ahead, had ended.
    while tries.len() < 5 && !tries.last().is_some_and(|last: &Json| last["code"].is_string()) {
        while let Ok(child) = sleeper() {
            sleepers.push(child);
            assert!(sleepers.len() < 60, "the limit of processes doesn't hold");
        }
        tries.push(attempt(0).await);
    }
    for room in 1..4 {
        let mut one = sleepers.pop().unwrap();
        one.kill().unwrap();
        one.wait().unwrap();
        tries.push(attempt(room).await);
    }
    for mut one in sleepers {
        one.kill().unwrap();
        one.wait().unwrap();
    }
    let after = rig.run(&["true"]).await;
    tell(rig, &json!({ "tries": tries, "after": after, "folders": folders(rig) }));
}

/// More output than the vault has room for, then a start on the full vault, then room again.
async fn fill_the_vault(rig: &Rig) {
    let full = rig.run(&["head", "-c", "4M", "/dev/zero"]).await;
    let task = full["taskId"].as_str().unwrap().to_owned();
    let stored = rig.file(&task, "stdout").len();
    let records = rig.records().len();
    // What is left after the command's own end is given away, down to the last block.
    let filler = rig.vault().join("filler");
    let _ = std::fs::write(&filler, vec![1; 4 << 20]);
    let refused = rig.try_start(&["true"], json!({})).await;
    let folders_when_full = folders(rig);
    std::fs::remove_file(filler).unwrap();
    std::fs::remove_dir_all(rig.vault().join(&task)).unwrap();
    let after = rig.run(&["printf", "room"]).await;
    tell(
        rig,
        &json!({
            "full": full, "stored": stored, "records": records, "refused": refused.err(), "folders": folders_when_full,
            "after": after,
        }),
    );
}

/// No file may grow beyond some size, as where a quota is used up.
async fn write_small_files_only(rig: &Rig) {
    setrlimit(Resource::RLIMIT_FSIZE, 100_000, 100_000).unwrap();
    let full = rig.run(&["head", "-c", "1M", "/dev/zero"]).await;
    let after = rig.run(&["printf", "small"]).await;
    tell(rig, &json!({ "full": full, "records": rig.records().len(), "after": after }));
}
