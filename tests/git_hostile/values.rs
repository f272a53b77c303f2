//! Values that a model could be talked into.

use std::path::Path;

use argvault::git::{GitError, GitOptions, Session, Step, Toolbox};
use argvault::input::Value as Given;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::git_support::{Place, drive, gits, value};
use crate::harness::{Fixture, Outcome, Twin, hold, two_commits};

#[test]
fn flags_in_any_value_are_refused() {
    let place = Place::with_commit();
    let tools = place.tools(&gits()[0]);
    for flag in ["--output=pwned", "-O", "--contents=/etc/passwd", "--no-index", "--ext-diff", "-c", "--"] {
        for (tool, params) in [
            ("git_log", json!({ "ref": flag })),
            ("git_log", json!({ "path": flag })),
            ("git_log", json!({ "since": flag })),
            ("git_show", json!({ "ref": flag })),
            ("git_show", json!({ "ref": "HEAD", "path": flag })),
            ("git_diff", json!({ "base": flag })),
            ("git_diff", json!({ "base": "HEAD", "head": flag })),
            ("git_diff", json!({ "head": flag })),
            ("git_blame", json!({ "path": flag })),
            ("git_blame", json!({ "path": "file", "ref": flag })),
            ("git_merge_base", json!({ "base": flag, "head": "HEAD" })),
            ("git_merge_base", json!({ "base": "HEAD", "head": flag })),
            ("git_ls_files", json!({ "path": flag })),
            ("git_file", json!({ "ref": flag, "path": "file" })),
        ] {
            let error = place.ask(&tools, tool, &params).unwrap_err();
            assert!(error.to_string().contains("must not start with \"-\""), "{tool} {params}: {error}");
        }
    }
}

#[test]
fn odd_values_are_refused_or_lowered() {
    hold(&[
        Fixture {
            name: "odd-values-shape",
            build: two_commits,
            twin: Twin::Inert,
            calls: |_| {
                vec![
                    ("git_log", json!({ "maxCount": -1 })),
                    ("git_log", json!({ "maxCount": 1e20 })),
                    ("git_log", json!({ "maxCount": 1.5 })),
                    ("git_log", json!({ "maxCount": "5" })),
                    ("git_log", json!({ "format": "%H" })),
                    ("git_log", json!({ "ref": 5 })),
                    ("git_log", json!({ "reff": "HEAD" })),
                    ("git_diff", json!({ "unified": -1 })),
                    ("git_diff", json!({ "stat": true, "nameOnly": true })),
                    ("git_blame", json!({ "path": "file", "lineStart": 0 })),
                    ("git_blame", json!({ "path": "file", "lineStart": 9, "lineEnd": 8 })),
                    ("git_blame", json!({})),
                    ("git_show", json!({})),
                    ("git_merge_base", json!({ "base": "HEAD" })),
                    ("git_log", json!([])),
                ]
            },
            outcome: Outcome::Refuses("ERR_BAD_OPTION"),
        },
        Fixture {
            name: "odd-values-dates",
            build: two_commits,
            twin: Twin::Inert,
            calls: |_| {
                ["total junk", "tea", "1e9", "@{1}", ""]
                    .map(|text| ("git_log", json!({ "since": text })))
                    .into()
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_VALUE"),
        },
        Fixture {
            name: "odd-values-revisions",
            build: two_commits,
            twin: Twin::Inert,
            calls: |_| {
                [
                    "HEAD@{999999999}",
                    "@{yesterday}",
                    ":/first",
                    "HEAD^{/first}",
                    "^HEAD",
                    "HEAD\n",
                    "HEAD HEAD",
                    "HEAD^!",
                    "x",
                    "*",
                ]
                .map(|text| ("git_log", json!({ "ref": text })))
                .into()
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_REVISION"),
        },
        Fixture {
            name: "odd-values-lowered",
            build: two_commits,
            twin: Twin::Inert,
            calls: |_| {
                vec![
                    ("git_log", json!({ "maxCount": 1_000_000, "ref": null, "path": null })),
                    ("git_diff", json!({ "unified": 1_000_000 })),
                    ("git_blame", json!({ "path": "file", "lineEnd": 2 })),
                ]
            },
            outcome: Outcome::Answers,
        },
    ]);
}

const WORDS: [&str; 24] = [
    "HEAD",
    "main",
    "HEAD~1",
    "a..b",
    "main...HEAD",
    "HEAD:file",
    "HEAD:../x",
    "--output=x",
    "-",
    "-n1",
    "--",
    "file",
    "../x",
    "/etc/passwd",
    ".git/config",
    ":(glob)**",
    "%G?",
    "@{u}",
    "@{1}",
    "^HEAD",
    "1 day ago",
    "2024-01-01",
    "oneline",
    "é\u{1b}\n",
];

/// Values as a model may give them: words that mean something to git, noise, and other types.
fn given() -> impl Strategy<Value = Given> {
    prop_oneof![
        6 => prop::sample::select(&["HEAD", "main", "HEAD~1", "file"][..]).prop_map(|word| Given::Text(word.to_owned())),
        4 => prop::sample::select(&WORDS[..]).prop_map(|word| Given::Text(word.to_owned())),
        2 => "\\PC{0,12}".prop_map(Given::Text),
        2 => "-{1,2}[a-zA-Z=:/.]{0,12}".prop_map(Given::Text),
        1 => any::<f64>().prop_map(Given::Number),
        1 => (0..600_u32).prop_map(|number| Given::Number(f64::from(number))),
        1 => any::<bool>().prop_map(Given::Bool),
        1 => Just(Given::Null),
        1 => Just(Given::List(vec![])),
    ]
}

const TOOLS: [(&str, &[&str]); 10] = [
    ("git_log", &["ref", "path", "maxCount", "since", "format", "author", "pickaxe", "follow"]),
    ("git_show", &["ref", "path", "nameOnly"]),
    ("git_diff", &["base", "head", "path", "nameOnly", "stat", "unified"]),
    ("git_blame", &["path", "ref", "lineStart", "lineEnd"]),
    ("git_merge_base", &["base", "head"]),
    ("git_ls_files", &["path"]),
    ("git_status", &["path"]),
    ("git_grep", &["pattern", "ref", "path", "ignoreCase", "literal"]),
    ("git_branches", &["kind"]),
    ("git_file", &["ref", "path"]),
];

fn question() -> impl Strategy<Value = (&'static str, Given)> {
    prop::sample::select(&TOOLS[..]).prop_flat_map(|(tool, names)| {
        prop::collection::vec(prop::option::weighted(0.4, given()), names.len()).prop_map(move |values| {
            let fields =
                names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            (tool, Given::Record(fields.collect()))
        })
    })
}

/// Every string that is in `params`.
fn texts(params: &Given) -> Vec<String> {
    match params {
        Given::Text(text) => vec![text.clone()],
        Given::Record(entries) => entries.iter().flat_map(|(_, value)| texts(value)).collect(),
        _ => vec![],
    }
}

/// Each element of argv that git may take for a flag is ours as it stands, or is one of ours that a checked value is
/// glued to; each object id is one; the rest stands behind `--`.
fn argv_is_ours(argv: &[String], resolving: bool) -> Result<(), String> {
    const GLUED: [&str; 9] = [
        "--git-dir=/",
        "--work-tree=/",
        "--format=",
        "--since=",
        "--author=",
        "-S",
        "-e",
        "--unified=",
        "-L",
    ];
    let hex = |text: &str| matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    let id = |text: &str| hex(text) || text.split("..").all(|end| hex(end.trim_start_matches('.')));
    for (at, element) in argv.iter().enumerate().skip(1) {
        if element == "--" {
            let behind = argv.len() - at - 1;
            let most = if argv.iter().any(|word| word == "for-each-ref") { 3 } else { 2 };
            return if behind <= most { Ok(()) } else { Err(format!("{behind} elements behind --")) };
        }
        // Behind this a revision follows that is being resolved; git reads it as one whatever it is.
        if resolving && element == "--end-of-options" {
            return Ok(());
        }
        let glued = GLUED.iter().any(|flag| element.starts_with(flag));
        let numbered =
            element.strip_prefix("-n").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        let fixed = FIXED.contains(&element.as_str());
        if !(glued || numbered || fixed || id(element)) {
            return Err(format!("{element:?} is not ours"));
        }
    }
    Ok(())
}

const FIXED: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--version",
    "log",
    "show",
    "diff",
    "blame",
    "merge-base",
    "ls-files",
    "status",
    "grep",
    "for-each-ref",
    "cat-file",
    "ls-tree",
    "rev-parse",
    "-t",
    "blob",
    "-z",
    "-v",
    "-n",
    "-I",
    "--verify",
    "--quiet",
    "--end-of-options",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "-O/dev/null",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-relative",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--ignore-submodules=dirty",
    "--ignore-submodules=all",
    "--no-show-signature",
    "--no-notes",
    "--no-mailmap",
    "--no-decorate",
    "--date=iso-strict",
    "--encoding=UTF-8",
    "--diff-merges=first-parent",
    "--diff-merges=off",
    "--no-patch",
    "--patch",
    "--stat=100",
    "--name-only",
    "--follow",
    "--fixed-strings",
    "--regexp-ignore-case",
    "--no-color-lines",
    "--no-color-by-age",
    "--porcelain",
    "--porcelain=v2",
    "--branch",
    "--untracked-files=normal",
    "--no-recurse-submodules",
    "--full-name",
    "--extended-regexp",
    "--ignore-case",
    "--full-tree",
];

thread_local! {
    /// One repository for all the questions.
    static WORLD: (Place, Toolbox) = {
        let place = Place::new();
        two_commits(&place);
        let tools = place.tools(&gits()[0]);
        (place, tools)
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_values_argv_is_ours_and_the_tool_answers_or_refuses((tool, params) in question()) {
        WORLD.with(|(place, tools)| {
            let Ok(session) = tools.ask(tool, &params) else { return Ok(()) };
            match drive(session, &place.at("scratch")) {
                Err(error) => prop_assert!(error.code().starts_with("ERR_") && !error.recovery().is_empty()),
                Ok(told) => {
                    for run in told.runs.iter().filter(|run| !run.argv.contains(&"config".to_owned())) {
                        let resolving = run.purpose == argvault::git::Purpose::Resolve;
                        if let Err(problem) = argv_is_ours(&run.argv, resolving) {
                            prop_assert!(false, "{} {:?}: {} in {:?}", tool, texts(&params), problem, run.argv);
                        }
                    }
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn registration_touches_nothing() {
    let options = GitOptions::parse(&value(&json!({ "repoRoot": "/nonexistent/repo" }))).unwrap();
    let tools = Toolbox::new(options, "/nonexistent/scratch".into(), "/usr/bin".into());
    let first = |session: Result<Session, GitError>| session.and_then(|mut session| session.start());
    match first(tools.ask("git_log", &value(&Value::Null))) {
        Err(error) => assert_eq!(error.code(), "ERR_BAD_OPTION", "null is no object of parameters"),
        Ok(step) => panic!("{step:?}"),
    }
    let error =
        first(tools.ask("git_log", &Given::Absent)).map(|step| matches!(step, Step::Done(_))).unwrap_err();
    assert!(matches!(error.code(), "ERR_GIT_NO_REPOSITORY" | "ERR_GIT_NOT_FOUND"), "{error}");
    assert!(!Path::new("/nonexistent").exists());
}
