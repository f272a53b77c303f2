//! How a hostile fixture is asked, and how it is seen that nothing of it took effect.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use argvault::git::Ending;
use serde_json::{Value, json};

use crate::git_support::{Place, Told, drive, finish, gits, value};

/// What must never leave a file outside of the checkout.
pub(crate) const SECRET: &str = "s3cr3t-canary";
/// What must never be told as if the repository had it.
pub(crate) const SPOOF: &str = "SPOOFED";

/// Time budget of one run: short where only the budget ends it, else far above what a busy machine needs.
fn budget_ms(outcome: Outcome) -> u64 {
    if matches!(outcome, Outcome::Ends) { 1_500 } else { 20_000 }
}

/// What a plain git does with the fixture: the proof that the fixture is one.
#[derive(Clone, Copy)]
pub(crate) enum Twin {
    /// It runs the planted program.
    Runs(&'static [&'static str]),
    /// It tells what lies outside, or what was planted.
    Tells(&'static [&'static str], &'static str),
    /// It changes the repository.
    Writes(&'static [&'static str]),
    /// It doesn't end.
    Hangs(&'static [&'static str]),
    /// A plain git is not turned either, or only by values that the tools don't take.
    Inert,
}

/// What the tools must do.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    /// Each call answers with exit code 0.
    Answers,
    /// Each call is refused with this code.
    Refuses(&'static str),
    /// Each call answers or refuses, or is ended by its budget.
    Ends,
}

/// One hostile repository.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) build: fn(&Place),
    pub(crate) twin: Twin,
    pub(crate) calls: fn(&Place) -> Vec<(&'static str, Value)>,
    pub(crate) outcome: Outcome,
}

/// Every tool, on the names that fixtures use.
pub(crate) fn all(place: &Place) -> Vec<(&'static str, Value)> {
    let mut calls = history(place);
    calls.extend([
        ("git_diff", json!({})),
        ("git_diff", json!({ "base": "HEAD" })),
        ("git_diff", json!({ "stat": true })),
        ("git_diff", json!({ "nameOnly": true })),
        ("git_status", json!({})),
    ]);
    calls
}

/// The tools that look at no working tree.
pub(crate) fn history(_: &Place) -> Vec<(&'static str, Value)> {
    vec![
        ("git_log", json!({})),
        ("git_log", json!({ "format": "full" })),
        ("git_log", json!({ "format": "stat", "path": "file" })),
        ("git_log", json!({ "format": "name-only" })),
        ("git_show", json!({ "ref": "HEAD" })),
        ("git_show", json!({ "ref": "HEAD:file" })),
        ("git_diff", json!({ "base": "HEAD~1", "head": "HEAD" })),
        ("git_blame", json!({ "path": "file" })),
        ("git_merge_base", json!({ "base": "HEAD", "head": "HEAD~1" })),
        ("git_ls_files", json!({})),
        ("git_grep", json!({ "pattern": "." })),
        ("git_branches", json!({})),
    ]
}

/// Two commits of `file`, then an edit that is not committed.
pub(crate) fn two_commits(place: &Place) {
    place.git(&["init", "-q", "-b", "main"]);
    place.write("file", "one\n");
    place.commit("first");
    place.write("file", "one\ntwo\n");
    place.commit("second");
    fs::write(place.at("outside/secret"), format!("{SECRET}\n")).unwrap();
}

/// Leaves `file` changed.
pub(crate) fn edit(place: &Place) {
    place.write("file", "one\ntwo\nthree\n");
}

/// Appends to the repository's configuration; `MARK` stands for the canary, `OUT` for what lies outside.
pub(crate) fn config(place: &Place, text: &str) {
    append(place, ".git/config", text);
}

pub(crate) fn append(place: &Place, name: &str, text: &str) {
    let path = place.repo().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, format!("{before}{}\n", fill(place, text))).unwrap();
}

pub(crate) fn fill(place: &Place, text: &str) -> String {
    let at = |name: &str| place.at(name).display().to_string();
    text.replace("MARK", &at("marker")).replace("OUT", &at("outside")).replace("ROOT", &at("repo"))
}

/// An executable file. A shell writes it: a descriptor of ours, open for writing while another test's thread forks,
/// would make its execution fail (`ETXTBSY`).
pub(crate) fn script(place: &Place, path: &Path, body: &str) {
    let text = format!("#!/bin/sh\n{}\n", fill(place, body));
    let write = "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let done = Command::new("sh").args(["-c", write, "sh", &text]).arg(path).status().unwrap();
    assert!(done.success());
}

pub(crate) fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

/// Builds, asks and examines every fixture, on each git; then shows that a plain git is turned.
pub(crate) fn hold(fixtures: &[Fixture]) {
    for fixture in fixtures {
        for git in gits() {
            eprintln!("{} with {}", fixture.name, git.display());
            withstands(fixture, &git);
        }
        if !matches!(fixture.twin, Twin::Inert) {
            eprintln!("{} with plain git", fixture.name);
            turns_plain_git(fixture);
        }
    }
}

fn withstands(fixture: &Fixture, git: &Path) {
    let place = Place::new();
    (fixture.build)(&place);
    let budget = budget_ms(fixture.outcome);
    let extra = json!(["git_status", "git_grep", "git_branches", "git_file", "git_log"]);
    let options = json!({ "extra": extra, "timeoutMs": budget, "maxOutputBytes": 1_000_000 });
    let tools = place.tools_for(git, &place.repo(), &options);
    let before = census(&place);
    for (tool, params) in (fixture.calls)(&place) {
        let what = format!("{}: {tool} {params} with {}", fixture.name, git.display());
        let begun = Instant::now();
        let told = tools.ask(tool, &value(&params)).and_then(|session| drive(session, &place.at("scratch")));
        assert!(begun.elapsed() < Duration::from_millis(budget * 4), "{what} took {:?}", begun.elapsed());
        assert!(!place.at("marker").exists(), "{what}: a planted program ran");
        match (&told, fixture.outcome) {
            (Ok(told), Outcome::Answers) => assert!(told.ok, "{what}: {} {:?}", told.state, told.exit_code),
            (Err(error), Outcome::Refuses(code)) => assert_eq!(error.code(), code, "{what}: {error}"),
            (_, Outcome::Ends) => {}
            (told, _) => panic!("{what}: {:?}", told.as_ref().map(|told| &told.text)),
        }
        let said = match &told {
            Ok(told) => harmless(told, &what),
            Err(error) => format!("{error} {} {}", error.recovery(), error.details()),
        };
        for word in [SECRET, SPOOF] {
            assert!(!said.contains(word), "{what} tells {word}: {said}");
        }
    }
    let after = census(&place);
    let changed: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    assert!(before.len() == after.len() && changed.is_empty(), "{}: changed {changed:?}", fixture.name);
    drop(tools);
    assert_eq!(fs::read_dir(place.at("scratch")).unwrap().count(), 0, "{}: the shadow is left", fixture.name);
}

/// The text of an answer; nothing in its preview may steer a terminal.
fn harmless(told: &Told, what: &str) -> String {
    assert!(
        !told.preview.contains(|c: char| c.is_control() && !"\n\t\r".contains(c)),
        "{what}: {:?}",
        told.preview
    );
    assert!(told.covered <= told.bytes.len() as u64 && !told.command.is_empty(), "{what}");
    format!("{} {}", told.text, told.preview)
}

fn turns_plain_git(fixture: &Fixture) {
    let place = Place::new();
    (fixture.build)(&place);
    let before = census(&place);
    let (Twin::Runs(arguments)
    | Twin::Tells(arguments, _)
    | Twin::Writes(arguments)
    | Twin::Hangs(arguments)) = fixture.twin
    else {
        return;
    };
    let ceiling = Duration::from_millis(if matches!(fixture.twin, Twin::Hangs(_)) { 700 } else { 20_000 });
    let mut command = place.plain(&gits()[0]);
    command.arg("--no-pager").args(arguments.iter().map(|text| fill(&place, text)));
    let stdout = place.at("scratch/twin");
    let (ending, stderr) = finish(&mut command, &stdout, ceiling, 1_000_000);
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&fs::read(&stdout).unwrap()),
        String::from_utf8_lossy(&stderr)
    );
    let turned = match fixture.twin {
        Twin::Runs(_) => place.at("marker").exists(),
        Twin::Tells(_, word) => said.contains(word),
        Twin::Writes(_) => census(&place) != before,
        Twin::Hangs(_) => matches!(ending, Ending::TimedOut | Ending::OutputLimit),
        Twin::Inert => true,
    };
    assert!(
        turned,
        "{}: plain git is not turned, so the fixture proves nothing: {ending:?} {said}",
        fixture.name
    );
}

/// Every file in and outside of the checkout: its kind, size and content. Not its times: git touches those of a
/// sparse index's trees, and nothing closes that.
fn census(place: &Place) -> Vec<String> {
    let mut lines = Vec::new();
    walk(&place.repo(), &mut lines);
    walk(&place.at("outside"), &mut lines);
    walk(&place.at("home"), &mut lines);
    lines.sort();
    lines
}

fn walk(dir: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let mut content = Vec::new();
        if meta.is_file() && meta.len() < 1 << 20 {
            fs::File::open(&path).unwrap().read_to_end(&mut content).unwrap();
        }
        let kind = (meta.is_dir(), meta.file_type().is_fifo(), meta.file_type().is_symlink());
        lines.push(format!("{} {kind:?} {content:?}", path.display()));
        if meta.is_dir() {
            walk(&path, lines);
        }
    }
}
