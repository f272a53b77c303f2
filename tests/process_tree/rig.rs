//! One host on a vault of its own, and the means to see what of its commands lives.
//!
//! Every process of a rig carries the rig's token in its environment, so whoever is left is found wherever it has
//! gone: by `setsid`, by double fork, to another parent. No test counts processes of the whole machine.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argvault::host::{Cancel, CommandHost, Ended, Listener, Reply};
use argvault::input::Value;
use argvault::os::signal::SignalNumber;
use argvault::supervisor::launch::Supervisor;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::{Value as Json, json};

/// How long anything may take before a test gives up on it: far more than any of it needs.
pub const CEILING: Duration = Duration::from_secs(25);
/// The name under which the token is in the environment of every process of a rig.
pub const TOKEN: &str = "ARGVAULT_TREE";
const PROGRAMS: &[&str] =
    &["sh", "node", "head", "yes", "sleep", "cat", "ls", "printf", "true", "false", "no-such-program"];

/// Where a rig's files are, and its token. Dropping it ends all that carry the token.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    token: String,
    /// `None` where it is another process's to remove.
    own: Option<tempfile::TempDir>,
}

impl Default for Place {
    fn default() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let own = tempfile::Builder::new().prefix("argvault-tree-").tempdir().unwrap();
        let path = own.path().to_owned();
        for name in ["vault", "marks"] {
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::create_dir(path.join(name)).unwrap();
            std::fs::set_permissions(path.join(name), private).unwrap();
        }
        Self { path, token: format!("{}-{count}-{nanos}", std::process::id()), own: Some(own) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.own.is_some() {
            end_all(&self.token);
        }
    }
}

impl Place {
    /// One that another process has made, and removes.
    pub fn of_another(path: PathBuf, token: String) -> Self {
        Self { path, token, own: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn vault(&self) -> PathBuf {
        self.path.join("vault")
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// The file that a fixture writes as `$MARKS/name`.
    pub fn mark(&self, name: &str) -> PathBuf {
        self.path.join("marks").join(name)
    }

    /// Waits until a fixture has written a whole line into `$MARKS/name`, and gives the line.
    pub fn marked(&self, name: &str) -> String {
        let read = || std::fs::read_to_string(self.mark(name)).unwrap_or_default();
        self.until(&format!("the mark {name}"), || read().ends_with('\n'));
        read().trim().to_owned()
    }

    /// A process id that a fixture has written.
    pub fn marked_pid(&self, name: &str) -> i32 {
        self.marked(name).parse().unwrap()
    }

    /// Who carries the token and is alive.
    pub fn survivors(&self) -> Vec<i32> {
        carriers(&self.token)
    }

    /// Polls until `fact`, with evidence when it doesn't come.
    pub fn until(&self, what: &str, fact: impl FnMut() -> bool) {
        assert!(holds_within(CEILING, fact), "waited in vain for {what}\n{}", self.evidence());
    }

    /// A count once it has stayed the same for a while: what a command held is given back a moment after its end.
    pub fn at_rest<T: PartialEq>(&self, count: impl Fn() -> T) -> T {
        let (mut last, mut times) = (count(), 0);
        self.until("a count that stays", || {
            let now = count();
            times = if now == last { times + 1 } else { 0 };
            last = now;
            times == 8
        });
        last
    }

    /// Everything that may explain a failure.
    pub fn evidence(&self) -> String {
        let listing = std::process::Command::new("ls").args(["-lR"]).arg(self.path()).output().unwrap();
        let processes: Vec<_> = self.survivors().into_iter().map(describe).collect();
        format!("alive: {processes:#?}\n{}", String::from_utf8_lossy(&listing.stdout))
    }

    /// The environment of every program here.
    pub fn env(&self) -> Vec<(String, String)> {
        let marks = self.path.join("marks").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        [("PATH", path), ("MARKS", marks), (TOKEN, self.token.clone())]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// The records in the vault, by task.
    pub fn records(&self) -> Vec<(String, Json)> {
        let mut found: Vec<_> = std::fs::read_dir(self.vault())
            .unwrap()
            .filter_map(|entry| {
                let entry = entry.unwrap();
                let text = std::fs::read(entry.path().join("record.json")).ok()?;
                Some((entry.file_name().into_string().unwrap(), serde_json::from_slice(&text).unwrap()))
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// A file of a task's folder.
    pub fn file(&self, task: &str, name: &str) -> Vec<u8> {
        std::fs::read(self.vault().join(task).join(name)).unwrap_or_default()
    }
}

/// A policy that allows this suite's programs, with `more` on top.
pub fn policy(more: &Json) -> Json {
    let mut policy = json!({
        "allowedExecutables": PROGRAMS, "cwdRoot": "/", "killGraceMs": 300, "strayGraceMs": 300,
        "defaultTimeoutMs": 60_000,
    });
    merge(&mut policy, more);
    policy
}

/// A place with a host on it.
pub struct Rig {
    pub place: Place,
    pub host: Arc<CommandHost>,
    pub supervisor: Arc<Supervisor>,
    pub announced: Arc<Mutex<Vec<Json>>>,
}

impl std::ops::Deref for Rig {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

struct Announced(Arc<Mutex<Vec<Json>>>);

impl Listener for Announced {
    fn settled(&self, ended: Ended) {
        self.0.lock().unwrap().push(serde_json::to_value(ended.status).unwrap());
    }
}

/// The warden that belongs to this build.
pub const WARDEN: &str = env!("CARGO_BIN_EXE_argvault-warden");

impl Rig {
    pub fn new() -> Self {
        Self::with(&json!({}))
    }

    /// With a policy that says `more`.
    pub fn with(more: &Json) -> Self {
        Self::at(Place::default(), Path::new(WARDEN), more)
    }

    /// On a place that is there, with the warden's file at `warden`.
    pub fn at(place: Place, warden: &Path, more: &Json) -> Self {
        let (supervisor, announced) = (Arc::new(Supervisor::new(warden.to_owned())), Arc::default());
        let host = new_host(&place.vault(), &supervisor, &announced);
        let rig = Self { place, host, supervisor, announced };
        rig.set_policy(more);
        rig
    }

    pub fn set_policy(&self, more: &Json) {
        self.host.set_policy(&Value::from(policy(more)), &self.env_value()).unwrap();
    }

    pub fn env_value(&self) -> Value {
        Value::Record(self.env().into_iter().map(|(name, text)| (name, Value::Text(text))).collect())
    }

    /// Starts a command and gives its task.
    pub async fn start(&self, argv: &[&str]) -> String {
        self.start_with(argv, json!({})).await
    }

    pub async fn start_with(&self, argv: &[&str], options: Json) -> String {
        match self.try_start(argv, options).await {
            Ok(task) => task,
            Err((code, message)) => panic!("{argv:?} was refused: {code} {message}"),
        }
    }

    /// Starts a command, or gives code and message of the refusal.
    pub async fn try_start(&self, argv: &[&str], options: Json) -> Result<String, (String, String)> {
        let (argv, env) = (Value::from(json!(argv)), self.env_value());
        match self.host.start(self.host.policy(), argv, options.into(), env, Cancel::never()).await {
            Ok(Reply::Started(started)) => Ok(started.task_id),
            Ok(Reply::Question(_)) => panic!("a hook is asked"),
            Err(error) => Err((error.code().name().to_owned(), error.to_string())),
        }
    }

    pub async fn sh(&self, script: &str) -> String {
        self.start(&["sh", "-c", script]).await
    }

    /// Waits until a task is over.
    pub async fn wait(&self, task: &str) -> Json {
        let waited = self.host.wait(task, Some(CEILING), Cancel::never()).await.unwrap();
        let status = serde_json::to_value(waited).unwrap();
        assert!(is_settled(&status), "{task} is not over: {status:#}\n{}", self.evidence());
        status
    }

    pub async fn run(&self, argv: &[&str]) -> Json {
        let task = self.start(argv).await;
        self.wait(&task).await
    }

    pub async fn run_sh(&self, script: &str) -> Json {
        self.run(&["sh", "-c", script]).await
    }

    pub async fn kill(&self, task: &str, signal: &str) -> Json {
        let signal = SignalNumber::from_name(signal).unwrap();
        let killed = tokio::time::timeout(CEILING, self.host.kill(task, signal)).await;
        serde_json::to_value(
            killed.unwrap_or_else(|_| panic!("{task} outlives kill\n{}", self.evidence())).unwrap(),
        )
        .unwrap()
    }

    pub fn status(&self, task: &str) -> Json {
        serde_json::to_value(self.host.status(task).unwrap()).unwrap()
    }

    pub async fn warden(&self) -> i32 {
        i32::try_from(self.supervisor.warden_pid().await.unwrap()).unwrap()
    }

    /// Nothing of any command of this rig is alive.
    #[track_caller]
    pub fn assert_gone(&self) {
        let alive = self.survivors();
        assert!(alive.is_empty(), "{alive:?} outlived the settlement\n{}", self.evidence());
    }

    pub fn stdout(&self, status: &Json) -> Vec<u8> {
        self.file(status["taskId"].as_str().unwrap(), "stdout")
    }

    pub fn stderr(&self, status: &Json) -> Vec<u8> {
        self.file(status["taskId"].as_str().unwrap(), "stderr")
    }
}

/// A host on `vault`.
pub fn new_host(
    vault: &Path,
    supervisor: &Arc<Supervisor>,
    announced: &Arc<Mutex<Vec<Json>>>,
) -> Arc<CommandHost> {
    let vault_dir = Value::Text(vault.to_str().unwrap().to_owned());
    let options = Value::Record(vec![("vaultDir".into(), vault_dir), ("onSettled".into(), Value::Function)]);
    let listener = Box::new(Announced(Arc::clone(announced)));
    CommandHost::new(&options, &Value::Absent, Arc::clone(supervisor), listener).unwrap()
}

pub fn is_settled(status: &Json) -> bool {
    !matches!(status["state"].as_str(), Some("running" | "queued"))
}

/// Puts the keys of `more` into `into`.
pub fn merge(into: &mut Json, more: &Json) {
    for (key, item) in more.as_object().unwrap() {
        into[key] = item.clone();
    }
}

/// Whether `fact` comes true within `ceiling`, looked at every 10 ms.
pub fn holds_within(ceiling: Duration, mut fact: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + ceiling;
    loop {
        if fact() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The living that carry the token.
pub fn carriers(token: &str) -> Vec<i32> {
    let wanted = format!("{TOKEN}={token}");
    processes()
        .filter(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes()) && is_alive(*pid)
        })
        .collect()
}

/// Kills all that carry the token, until none is left.
pub fn end_all(token: &str) {
    holds_within(Duration::from_secs(5), || {
        let left = carriers(token);
        for &pid in &left {
            signal(pid, Signal::SIGKILL);
        }
        left.is_empty()
    });
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The state letter and the parent of a process, while there is one.
pub fn state(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat[stat.rfind(')')? + 2..].split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub fn is_alive(pid: i32) -> bool {
    state(pid).is_some_and(|(state, _)| !"ZX".contains(state))
}

pub fn is_stopped(pid: i32) -> bool {
    state(pid).is_some_and(|(state, _)| state == 'T')
}

pub fn parent(pid: i32) -> i32 {
    state(pid).map_or(0, |(_, parent)| parent)
}

/// Children of `pid`, the ended ones too.
pub fn children(pid: i32) -> Vec<i32> {
    processes().filter(|&other| state(other).is_some_and(|(_, parent)| parent == pid)).collect()
}

/// Open descriptors of `pid`.
pub fn descriptors(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Threads of `pid`.
pub fn threads(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

pub fn signal(pid: i32, signal: Signal) {
    let _ = nix::sys::signal::kill(Pid::from_raw(pid), signal);
}

fn describe(pid: i32) -> String {
    let command =
        std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    format!("{pid} {:?} {}", state(pid), command.chars().take(160).collect::<String>())
}

/// Whether the test `name` has this process to itself, as it must to count what a process has. Where it hasn't, it is run
/// once more as a process of its own, and its failure is this one's.
pub fn is_alone(name: &str) -> bool {
    const ALONE: &str = "ARGVAULT_TEST_ALONE";
    let per_test = std::env::var_os("NEXTEST_EXECUTION_MODE").is_some_and(|mode| mode == "process-per-test");
    if per_test || std::env::var_os(ALONE).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap();
    let output = std::process::Command::new(own)
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "alone:\n{said}");
    false
}

pub fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
