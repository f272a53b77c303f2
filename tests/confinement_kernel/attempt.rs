//! One attempt: the same command, free and confined.

use std::path::PathBuf;

use argvault::confinement::Kernel;
use serde_json::{Value as Json, json};

use crate::support::Rig;

/// The level that everything in `confinement` needs: Linux 6.12.
const FULL: u32 = 6;

/// Whether what needs this level is to be tested; a kernel that doesn't reach the expected level is a failure.
pub fn expected(abi: u32) -> bool {
    let level = std::env::var("ARGVAULT_EXPECT_LANDLOCK_ABI").map_or(FULL, |text| text.parse().unwrap());
    let kernel = Kernel::probe();
    assert!(
        kernel.landlock_abi >= level && (kernel.seccomp || level == 0),
        "ARGVAULT_EXPECT_LANDLOCK_ABI is {level}, and this is {kernel:?}"
    );
    abi <= level
}

#[test]
fn the_kernel_has_the_expected_level() {
    assert!(expected(0));
}

/// A rig with a directory outside of the workspace.
pub struct Field {
    pub rig: Rig,
    pub outside: PathBuf,
}

pub const PROGRAMS: &[&str] =
    &["sh", "perl", "find", "cat", "cp", "mv", "ln", "echo", "env", "true", "node", "git", "mkdir"];

impl Field {
    pub fn new() -> Self {
        let rig = Rig::new(json!({ "allowedExecutables": PROGRAMS }));
        let outside = rig.work().parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        Self { rig, outside }
    }

    /// Runs under `confinement`, or free.
    pub async fn run(&self, confinement: Option<&Json>, argv: &Json) -> (Json, String) {
        self.run_with(confinement, argv, json!({})).await
    }

    pub async fn run_with(&self, confinement: Option<&Json>, argv: &Json, options: Json) -> (Json, String) {
        let mut policy = json!({ "allowedExecutables": PROGRAMS });
        if let Some(confinement) = confinement {
            policy["confinement"] = confinement.clone();
        }
        self.rig.set_policy(policy);
        let status = self.rig.run(argv.clone(), options).await;
        let task = status["taskId"].as_str().unwrap();
        let text = ["stdout", "stderr"].map(|stream| self.rig.bytes(task, stream)).concat();
        (status, String::from_utf8_lossy(&text).into_owned())
    }

    /// The command prints "escaped" when it is free, and doesn't when it is confined.
    pub async fn is_stopped(&self, confinement: Json, argv: Json) {
        let (status, free) = self.run(None, &argv).await;
        assert!(free.contains("escaped"), "the twin of {argv} did not escape: {free}{status:#}");
        self.is_stopped_without_twin(confinement, argv).await;
    }

    /// The same where a machine may stop the twin by itself.
    pub async fn is_stopped_without_twin(&self, confinement: Json, argv: Json) {
        let (status, text) = self.run(Some(&confinement), &argv).await;
        assert_ne!(status["cause"], "start-failed", "{argv} never ran: {status:#}");
        assert!(!text.contains("escaped"), "{argv} escaped from {confinement}: {text}{status:#}");
    }

    /// A documented limit: the command gets through in spite of the confinement.
    pub async fn gets_through(&self, confinement: Json, argv: Json) {
        let (status, text) = self.run(Some(&confinement), &argv).await;
        assert!(text.contains("escaped"), "docs/confinement.md says this works: {text}{status:#}");
    }
}

pub fn perl(script: &str) -> Json {
    json!(["perl", "-e", script])
}

pub fn sh(script: &str) -> Json {
    json!(["sh", "-c", script])
}

/// What every refusal of a call looks like: the errno, or "escaped".
pub fn call(number: i64, arguments: &str) -> String {
    format!("my $r = syscall({number}, {arguments}); print $r == -1 ? 'errno '.($!+0) : 'escaped';")
}

/// The real path of a program on PATH.
pub fn real(name: &str) -> PathBuf {
    let path = std::env::var("PATH").unwrap();
    let found = path.split(':').map(|dir| PathBuf::from(dir).join(name)).find(|path| path.exists());
    std::fs::canonicalize(found.unwrap()).unwrap()
}
