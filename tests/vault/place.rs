//! A host of its own for each test, with a real warden, on a vault that is gone afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use argvault::error::Error;
use argvault::host::{Cancel, CommandHost, Ended, Listener, Reply};
use argvault::input::Value;
use argvault::supervisor::launch::Supervisor;
use serde_json::json;

/// No test takes this long: what does is stuck.
pub(crate) const CEILING: Duration = Duration::from_secs(60);

pub(crate) struct Place {
    pub dir: tempfile::TempDir,
    pub vault: PathBuf,
}

struct Nobody;

impl Listener for Nobody {
    fn settled(&self, _: Ended) {}
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let vault = dir.path().join("vault");
        std::fs::create_dir(dir.path().join("root")).unwrap();
        Self { dir, vault }
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub fn host(&self) -> Arc<CommandHost> {
        self.host_with(&json!({}), &json!({}))
    }

    pub fn host_with(&self, options: &serde_json::Value, policy: &serde_json::Value) -> Arc<CommandHost> {
        open(&self.vault, &self.root(), options, policy)
    }

    /// The folder of a task.
    pub fn folder(&self, task: &str) -> PathBuf {
        self.vault.join(task)
    }

    /// Names in the vault's directory that are no audit files, nor the folder that is made ahead of the next task.
    pub fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.vault).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with("audit") && name != NEXT).collect()
    }
}

pub(crate) fn open(
    vault: &Path,
    root: &Path,
    options: &serde_json::Value,
    policy: &serde_json::Value,
) -> Arc<CommandHost> {
    let merged = |base: serde_json::Value, more: &serde_json::Value| {
        let mut all = base.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        value(serde_json::Value::Object(all))
    };
    let supervisor = Arc::new(Supervisor::new(env!("CARGO_BIN_EXE_argvault-warden").into()));
    let options = merged(json!({ "vaultDir": vault }), options);
    let host = CommandHost::new(&options, &environment(), supervisor, Box::new(Nobody)).unwrap();
    let policy =
        merged(json!({ "allowedExecutables": ["sh"], "cwdRoot": root, "killGraceMs": 1000 }), policy);
    host.set_policy(&policy, &environment()).unwrap();
    host
}

pub(crate) fn environment() -> Value {
    value(json!({ "PATH": "/usr/bin:/bin" }))
}

pub(crate) fn value(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(flag),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap()),
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(items) => Value::List(items.into_iter().map(value).collect()),
        serde_json::Value::Object(entries) => {
            Value::Record(entries.into_iter().map(|(key, entry)| (key, value(entry))).collect())
        }
    }
}

/// The folder that is made ahead.
pub(crate) const NEXT: &str = ".next";

/// Starts a shell script and brings back the task's id.
pub(crate) async fn start(host: &Arc<CommandHost>, script: &str) -> Result<String, Error> {
    start_with(host, script, json!({})).await
}

pub(crate) async fn start_with(
    host: &Arc<CommandHost>,
    script: &str,
    options: serde_json::Value,
) -> Result<String, Error> {
    let argv = value(json!(["sh", "-c", script]));
    let reply = host.start(host.policy(), argv, value(options), environment(), Cancel::never()).await?;
    match reply {
        Reply::Started(started) => Ok(started.task_id.clone()),
        Reply::Question(_) => panic!("a hook was asked"),
    }
}

/// Waits for a command to be over, and gives its status as callers see it.
pub(crate) async fn settled(host: &CommandHost, task: &str) -> serde_json::Value {
    let status = tokio::time::timeout(CEILING, host.wait(task, None, Cancel::never())).await;
    json(&status.expect("never settled").unwrap())
}

/// As it would cross to JavaScript.
pub(crate) fn json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap()
}

pub(crate) fn status(host: &CommandHost, task: &str) -> serde_json::Value {
    json(&host.status(task).unwrap())
}

pub(crate) fn code<T>(result: Result<T, Error>) -> &'static str {
    result.err().expect("not refused").to_wire().code
}

/// Asks again until it is so.
pub(crate) async fn eventually(what: &str, fact: impl Fn() -> bool) {
    let end = tokio::time::Instant::now() + CEILING;
    while !fact() {
        assert!(tokio::time::Instant::now() < end, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
