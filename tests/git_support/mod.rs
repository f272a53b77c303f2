//! What the git tests share: a host that carries out invocations, and repositories to ask about.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a helper of tests fails like one, and tells")]

use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argvault::git::{Completed, Ending, GitError, GitOptions, Invocation, Purpose, Session, Step, Toolbox};
use argvault::input::Value;

/// A JSON value as a caller would pass it.
pub(crate) fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap()),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value).collect()),
        serde_json::Value::Object(map) => {
            Value::Record(map.iter().map(|(key, item)| (key.clone(), value(item))).collect())
        }
    }
}

/// The gits that every promise is held on: the one on PATH and Debian's. `ARGVAULT_TEST_GITS` (paths with colons)
/// names others, and then each must be there.
pub(crate) fn gits() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("ARGVAULT_TEST_GITS") {
        let gits: Vec<_> = std::env::split_paths(&named).collect();
        assert!(gits.iter().all(|git| git.is_file()), "ARGVAULT_TEST_GITS: {gits:?}");
        return gits;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let mut gits: Vec<_> = first.into_iter().collect();
    let debian = PathBuf::from("/usr/bin/git");
    if !debian.is_file() {
        eprintln!("skipped: /usr/bin/git is not there");
    } else if !gits.contains(&debian) {
        gits.push(debian);
    }
    assert!(!gits.is_empty(), "no git to test with");
    gits
}

/// A process group that ends with its guard.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// Waits for `command` under a ceiling and an output cap, in its own process group.
pub(crate) fn finish(command: &mut Command, stdout: &Path, ceiling: Duration, cap: u64) -> (Ending, Vec<u8>) {
    let errors = stdout.with_extension("err");
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(File::create(stdout).unwrap()).stderr(File::create(&errors).unwrap());
    let mut child = Group(command.spawn().unwrap());
    let begun = Instant::now();
    let mut pause = 200;
    let ending = loop {
        if let Some(status) = child.0.try_wait().unwrap() {
            break status.code().map_or(Ending::Killed, Ending::Exited);
        }
        if begun.elapsed() > ceiling {
            break Ending::TimedOut;
        }
        if fs::metadata(stdout).unwrap().len() > cap {
            break Ending::OutputLimit;
        }
        std::thread::sleep(Duration::from_micros(pause));
        pause = (pause + pause / 8).min(10_000);
    };
    drop(child);
    if fs::metadata(stdout).unwrap().len() > cap {
        File::options().write(true).open(stdout).unwrap().set_len(cap).unwrap();
        return (Ending::OutputLimit, fs::read(&errors).unwrap());
    }
    (ending, fs::read(&errors).unwrap())
}

/// An answer as the host would have it.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) ok: bool,
    pub(crate) exit_code: Option<i32>,
    pub(crate) state: &'static str,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) preview: String,
    pub(crate) covered: u64,
    pub(crate) command: Vec<String>,
    pub(crate) runs: Vec<Invocation>,
}

/// Drives a session to its end.
pub(crate) fn drive(mut session: Session, scratch: &Path) -> Result<Told, GitError> {
    let dir = tempfile::tempdir_in(scratch).unwrap();
    let raw = dir.path().join("raw");
    File::create(&raw).unwrap();
    let mut runs = Vec::new();
    let mut step = session.start()?;
    loop {
        match step {
            Step::Run(run) => {
                let main = run.purpose == Purpose::Main;
                let stdout = if main { raw.clone() } else { dir.path().join("resolve") };
                let mut command = Command::new(&run.argv[0]);
                command.args(&run.argv[1..]).current_dir(&run.cwd).env_clear();
                command.envs(run.env.iter().map(|entry| entry.split_once('=').unwrap()));
                let ceiling = Duration::from_millis(run.timeout_ms);
                let (ending, stderr) = finish(&mut command, &stdout, ceiling, run.max_output_bytes);
                if std::env::var_os("ARGVAULT_TEST_SHOW").is_some() {
                    eprintln!("{:?} {ending:?} {}", run.argv, String::from_utf8_lossy(&stderr));
                }
                let stdout = if main { Vec::new() } else { fs::read(&stdout).unwrap() };
                runs.push(run);
                step = session.feed(&Completed { ending, stdout, stderr })?;
            }
            Step::Done(answer) => {
                let mut kept = Vec::new();
                let shown = answer.render(&mut File::open(&raw).unwrap(), &mut kept).unwrap();
                assert_eq!(shown.bytes, kept.len() as u64);
                return Ok(Told {
                    ok: answer.ok(),
                    exit_code: answer.exit_code(),
                    state: answer.state(),
                    text: String::from_utf8_lossy(&kept).into_owned(),
                    bytes: kept,
                    preview: shown.preview,
                    covered: shown.covered,
                    command: answer.command,
                    runs,
                });
            }
        }
    }
}

/// A place of its own for one test: a checkout, what lies outside of it, and room for shadows.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for name in ["repo", "outside", "scratch", "home"] {
            fs::create_dir(place.at(name)).unwrap();
        }
        place
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.at("repo")
    }

    /// A checkout with one commit of `file` ("one\n"), on `main`.
    pub(crate) fn with_commit() -> Self {
        let place = Self::new();
        place.git(&["init", "-q", "-b", "main"]);
        place.write("file", "one\n");
        place.commit("first");
        place
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.repo().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Plain git in the checkout, as whoever built it would use it.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.repo(), arguments)
    }

    pub(crate) fn git_in(&self, dir: &Path, arguments: &[&str]) -> String {
        let mut command = self.plain(&gits()[0]);
        let out = command.current_dir(dir).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "git {arguments:?}: {errors} {:?}", out.status.signal());
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    /// A git with a person and a home, and nothing held back.
    pub(crate) fn plain(&self, git: &Path) -> Command {
        let mut command = Command::new(git);
        command.env_clear().env("HOME", self.at("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0").current_dir(self.repo());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
            command.env(format!("GIT_{who}_DATE"), "2024-05-31T10:00:00+02:00");
        }
        command.args(["-c", "protocol.file.allow=always"]);
        command
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Tools for `root`, with more options.
    pub(crate) fn tools_for(&self, git: &Path, root: &Path, more: &serde_json::Value) -> Toolbox {
        let mut options = serde_json::json!({ "repoRoot": root, "gitExecutable": git, "timeoutMs": 20_000 });
        for (key, item) in more.as_object().unwrap() {
            options[key] = item.clone();
        }
        let options = GitOptions::parse(&value(&options)).unwrap();
        Toolbox::new(options, self.at("scratch"), std::ffi::OsString::new())
    }

    pub(crate) fn tools(&self, git: &Path) -> Toolbox {
        let extra = serde_json::json!(["git_status", "git_grep", "git_branches", "git_file", "git_log"]);
        self.tools_for(git, &self.repo(), &serde_json::json!({ "extra": extra }))
    }

    pub(crate) fn ask(
        &self,
        tools: &Toolbox,
        tool: &str,
        params: &serde_json::Value,
    ) -> Result<Told, GitError> {
        drive(tools.ask(tool, &value(params))?, &self.at("scratch"))
    }
}
