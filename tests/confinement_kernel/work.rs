//! Real work goes on.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::attempt::Field;

fn git(dir: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").current_dir(dir).args(identity).args(arguments).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[tokio::test]
async fn git_answers_and_starts_nothing_else() {
    let field = Field::new();
    let work = field.rig.work();
    git(&work, &["init", "-q"]);
    std::fs::write(work.join("file"), "one\n").unwrap();
    git(&work, &["add", "file"]);
    git(&work, &["commit", "-q", "-m", "first"]);
    std::fs::write(work.join("file"), "two\n").unwrap();
    for preset in ["git", "workspace"] {
        let preset = json!(preset);
        for (argv, word) in [
            (json!(["git", "log", "--oneline"]), "first"),
            (json!(["git", "diff"]), "+two"),
            (json!(["git", "status", "--short"]), " M file"),
        ] {
            let (status, text) = field.run(Some(&preset), &argv).await;
            assert_eq!(status["exitCode"], 0, "{preset} {argv}: {text}{status:#}");
            assert!(text.contains(word), "{preset} {argv}: {text}");
        }
    }
    field.is_stopped(json!("git"), json!(["git", "-c", "alias.x=!printf 'esc%s' aped", "x"])).await;
    let textconv = work.join("evil.sh");
    crate::support::script(&textconv, "#!/bin/sh\necho escaped\n");
    let argv = json!(["git", "-c", format!("diff.external={}", textconv.display()), "diff"]);
    field.is_stopped(json!("git"), argv).await;
}

#[tokio::test]
async fn node_runs_its_tests_in_a_workspace() {
    let field = Field::new();
    let source = "const { test } = require('node:test'); const { execFileSync } = require('node:child_process');\n\
        const fs = require('node:fs'); const os = require('node:os'); const path = require('node:path');\n\
        test('works', async () => {\n\
          const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'x-')); fs.writeFileSync(path.join(dir, 'f'), 'y');\n\
          if (execFileSync(process.execPath, ['-p', '6*7']).toString() !== '42\\n') throw new Error('no');\n\
          await fs.promises.readFile(__filename); fs.writeFileSync('out', 'z');\n\
        });\n";
    std::fs::write(field.rig.work().join("a.test.js"), source).unwrap();
    let (status, text) = field.run(Some(&json!("workspace")), &json!(["node", "--test"])).await;
    assert_eq!(status["exitCode"], 0, "{text}{status:#}");
    assert!(text.contains("pass 1"), "{text}");
}

#[tokio::test]
async fn npm_runs_a_projects_tests_in_a_workspace_with_its_cache() {
    let field = Field::new();
    let work = field.rig.work();
    std::fs::write(
        work.join("package.json"),
        r#"{ "name": "small", "version": "1.0.0", "scripts": { "pretest": "node build.js", "test": "node --test" } }"#,
    )
    .unwrap();
    std::fs::write(
        work.join("build.js"),
        "require('node:fs').writeFileSync('built.js', 'module.exports = 42')",
    )
    .unwrap();
    std::fs::write(
        work.join("a.test.js"),
        "require('node:test').test('built', () => { if (require('./built.js') !== 42) throw new Error('no'); });",
    )
    .unwrap();
    let cache = field.outside.join("npm-cache");
    std::fs::create_dir(&cache).unwrap();
    let path = std::env::var("PATH").unwrap();
    let env = json!({ "PATH": path, "HOME": field.outside, "npm_config_cache": cache });
    let confinement = json!({
        "level": "required", "read": ["."], "write": [".", cache], "network": "none", "signals": "own-tree",
    });
    for confinement in [confinement, json!("workspace")] {
        field.rig.set_policy(json!({ "allowedExecutables": ["npm"], "confinement": confinement }));
        let status = field.rig.run(json!(["npm", "test"]), json!({ "env": env })).await;
        assert_eq!(status["exitCode"], 0, "{confinement}: {status:#}");
        assert!(status["tailPreview"].as_str().unwrap().contains("pass 1"), "{status:#}");
    }
    // The twin of its being confined: the same script that looks outside fails the tests.
    std::fs::write(work.join("build.js"), "require('node:fs').readdirSync('..')").unwrap();
    let status = field.rig.run(json!(["npm", "test"]), json!({ "env": env })).await;
    assert_ne!(status["exitCode"], 0, "{status:#}");
    field.rig.set_policy(json!({ "allowedExecutables": ["npm"] }));
    std::fs::write(work.join("build.js"), "require('node:fs').readdirSync('..')").unwrap();
    let status = field.rig.run(json!(["npm", "test"]), json!({ "env": env })).await;
    assert_eq!(status["exitCode"], 0, "{status:#}");
}

/// Where a toolchain in somebody's home is kept.
fn toolchain() -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let of =
        |variable: &str, name: &str| std::env::var(variable).unwrap_or_else(|_| format!("{home}/{name}"));
    vec![of("CARGO_HOME", ".cargo"), of("RUSTUP_HOME", ".rustup")]
}

#[tokio::test]
async fn cargo_builds_and_tests_in_a_workspace() {
    let field = Field::new();
    let work = field.rig.work();
    std::fs::create_dir(work.join("src")).unwrap();
    std::fs::write(
        work.join("Cargo.toml"),
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    )
    .unwrap();
    std::fs::write(work.join("build.rs"), "fn main() { println!(\"cargo::rustc-env=MADE=yes\"); }\n")
        .unwrap();
    std::fs::write(
        work.join("src/lib.rs"),
        "#[test]\nfn works() {\n    assert_eq!(env!(\"MADE\"), \"yes\");\n    std::thread::spawn(|| ()).join().unwrap();\n}\n",
    )
    .unwrap();
    let read: Vec<Json> = toolchain().into_iter().chain([".".to_owned()]).map(Json::from).collect();
    let confinement = json!({ "level": "required", "read": read, "write": ["."], "network": "none", "signals": "own-tree" });
    field.rig.set_policy(json!({ "allowedExecutables": ["cargo"], "confinement": confinement }));
    let status = field.rig.run(json!(["cargo", "test", "--offline"]), json!({})).await;
    assert_eq!(status["exitCode"], 0, "{status:#}");
    assert!(status["tailPreview"].as_str().unwrap().contains("1 passed"), "{status:#}");
}
