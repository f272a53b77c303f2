//! A command host as integration tests use it: a vault of its own, the warden of this build, values from JSON.

#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses its own part of this")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "json! makes values, and tests read better without borrows"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argvault::error::Error;
use argvault::host::{Cancel, CommandHost, Ended, Listener, Reply};
use argvault::input::Value;
use argvault::supervisor::launch::Supervisor;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The longest that anything here may take; reached only when something is broken.
pub const CEILING: Duration = Duration::from_secs(60);

/// A value as JavaScript would pass it; the string `"<function>"` stands for a function.
pub fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => Value::Number(number.as_f64().unwrap()),
        Json::String(text) if text == "<function>" => Value::Function,
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.into_iter().map(value).collect()),
        Json::Object(map) => Value::Record(map.into_iter().map(|(key, item)| (key, value(item))).collect()),
    }
}

/// What was settled, as it was announced.
#[derive(Clone, Default)]
pub struct Announced(Arc<Mutex<Vec<Json>>>);

impl Announced {
    /// The statuses so far.
    pub fn all(&self) -> Vec<Json> {
        self.0.lock().unwrap().clone()
    }
}

impl Listener for Announced {
    fn settled(&self, ended: Ended) {
        self.0.lock().unwrap().push(serde_json::to_value(ended.status).unwrap());
    }
}

/// A host with a workspace and a vault in one temporary directory.
pub struct Rig {
    /// The host.
    pub host: Arc<CommandHost>,
    /// What it announced.
    pub announced: Announced,
    /// Its warden.
    pub supervisor: Arc<Supervisor>,
    dir: TempDir,
}

impl Rig {
    /// With the policy `{ allowedExecutables: ["sh", …], cwdRoot: <workspace> }` and what `more` adds or replaces.
    pub fn new(more: Json) -> Self {
        let rig = Self::without_policy(json!({}));
        rig.set_policy(more);
        rig
    }

    /// Without a policy, with these host options.
    pub fn without_policy(options: Json) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        let announced = Announced::default();
        let warden = PathBuf::from(env!("CARGO_BIN_EXE_argvault-warden"));
        let supervisor = Arc::new(Supervisor::new(warden));
        let mut options = options;
        options["vaultDir"] = json!(dir.path().join("vault"));
        options["onSettled"] = json!("<function>");
        let listener = Box::new(announced.clone());
        let host =
            CommandHost::new(&value(options), &environment(), Arc::clone(&supervisor), listener).unwrap();
        Self { host, announced, supervisor, dir }
    }

    /// Replaces the policy.
    pub fn set_policy(&self, more: Json) {
        let mut policy = json!({
            "allowedExecutables": ["sh", "true", "echo", "cat", "stat", "env"],
            "cwdRoot": self.work(),
            "killGraceMs": 200,
        });
        for (key, item) in more.as_object().unwrap() {
            policy[key] = item.clone();
        }
        self.host.set_policy(&value(policy), &environment()).unwrap();
    }

    /// The workspace: `cwdRoot`.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The vault.
    pub fn vault(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    /// Starts, and gives what came of it: a handle or a question.
    pub async fn try_start(&self, argv: Json, options: Json) -> Result<Json, Error> {
        let (argv, options) = (value(argv), value(options));
        let reply =
            self.host.start(self.host.policy(), argv, options, environment(), Cancel::never()).await?;
        Ok(reply_json(&reply))
    }

    /// Starts, and gives the task.
    pub async fn start(&self, argv: Json, options: Json) -> String {
        let handle = self.try_start(argv, options).await.unwrap();
        handle["taskId"].as_str().unwrap_or_else(|| panic!("no handle: {handle}")).to_owned()
    }

    /// Waits for the end.
    pub async fn settled(&self, task: &str) -> Json {
        let status = self.host.wait(task, Some(CEILING), Cancel::never()).await.unwrap();
        let status = serde_json::to_value(status).unwrap();
        assert!(status["settledAt"].is_u64(), "not settled within {CEILING:?}: {status:#}");
        status
    }

    /// Starts and waits.
    pub async fn run(&self, argv: Json, options: Json) -> Json {
        let task = self.start(argv, options).await;
        self.settled(&task).await
    }

    /// The whole of a stream.
    pub fn bytes(&self, task: &str, stream: &str) -> Vec<u8> {
        std::fs::read(self.vault().join(task).join(stream)).unwrap()
    }

    /// The audit trail.
    pub fn audit(&self) -> Vec<Json> {
        let text = std::fs::read_to_string(self.vault().join("audit.ndjson")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A reply as JavaScript sees it.
pub fn reply_json(reply: &Reply) -> Json {
    serde_json::to_value(reply).unwrap()
}

/// This process's environment, as `process.env` would be.
pub fn environment() -> Value {
    Value::Record(std::env::vars().map(|(name, text)| (name, Value::Text(text))).collect())
}

/// The code and the message of a refusal.
pub fn refusal(result: Result<Json, Error>) -> (String, String) {
    match result {
        Ok(json) => panic!("was not refused: {json}"),
        Err(error) => {
            let wire = error.to_wire();
            (wire.code.to_owned(), wire.message)
        }
    }
}

/// Waits for a fact.
pub async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + CEILING;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "did not come: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Writes an executable file.
pub fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
