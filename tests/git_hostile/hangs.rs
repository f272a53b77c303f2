//! What would not end, or not fit.

use std::fs;
use std::os::unix::fs::symlink;

use crate::git_support::Place;
use crate::harness::{
    Fixture, Outcome, Twin, all, append, config, edit, fifo, fill, history, hold, two_commits,
};
use serde_json::json;

#[test]
fn pipes_hold_nobody() {
    let refused = |name, build, twin| Fixture {
        name,
        build,
        twin,
        calls: all,
        outcome: Outcome::Refuses("ERR_GIT_LAYOUT"),
    };
    hold(&[
        refused(
            "fifo-config",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".git/config"));
            },
            Twin::Hangs(&["log"]),
        ),
        refused(
            "fifo-head",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".git/HEAD"));
            },
            Twin::Hangs(&["log"]),
        ),
        refused(
            "fifo-index",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".git/index"));
            },
            Twin::Hangs(&["ls-files"]),
        ),
        refused(
            "fifo-loose-ref",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".git/refs/heads/main"));
            },
            Twin::Hangs(&["log"]),
        ),
        refused(
            "fifo-packed-refs",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".git/packed-refs"));
            },
            Twin::Hangs(&["for-each-ref"]),
        ),
    ]);
}

#[test]
fn pipes_among_what_git_would_read_for_its_output_are_not_opened() {
    let fixture = |name, build, twin, outcome| Fixture { name, build, twin, calls: history, outcome };
    hold(&[
        fixture(
            "fifo-mailmap",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".mailmap"));
            },
            Twin::Hangs(&["log"]),
            Outcome::Answers,
        ),
        fixture(
            "fifo-gitattributes",
            |place| {
                two_commits(place);
                fifo(&place.repo().join(".gitattributes"));
            },
            Twin::Hangs(&["show"]),
            Outcome::Answers,
        ),
        fixture(
            "fifo-info-attributes",
            |place| {
                two_commits(place);
                fs::create_dir_all(place.repo().join(".git/info")).unwrap();
                fifo(&place.repo().join(".git/info/attributes"));
            },
            Twin::Hangs(&["show"]),
            Outcome::Answers,
        ),
        fixture(
            "fifo-orderfile",
            |place| {
                two_commits(place);
                fifo(&place.at("outside/order"));
                config(place, "[diff]\n\torderFile = OUT/order");
            },
            Twin::Hangs(&["show"]),
            Outcome::Answers,
        ),
        fixture(
            "devzero-mailmap",
            |place| {
                two_commits(place);
                config(place, "[mailmap]\n\tfile = /dev/zero");
            },
            Twin::Hangs(&["log"]),
            Outcome::Answers,
        ),
        Fixture {
            name: "fifo-in-place-of-a-file",
            build: |place| {
                two_commits(place);
                fifo(&place.repo().join("file"));
            },
            twin: Twin::Inert,
            calls: all,
            // git calls it an unsupported file type and gives no diff; that it says so at once is what counts.
            outcome: Outcome::Ends,
        },
    ]);
}

#[test]
fn what_nothing_closes_is_ended_by_the_budget() {
    hold(&[
        Fixture {
            name: "fifo-gitattributes-work-tree",
            build: |place| {
                two_commits(place);
                edit(place);
                fifo(&place.repo().join(".gitattributes"));
            },
            twin: Twin::Hangs(&["diff"]),
            calls: |_| vec![("git_diff", json!({}))],
            outcome: Outcome::Ends,
        },
        Fixture {
            name: "tree-bomb",
            build: |place| {
                two_commits(place);
                let mut tree = place.git(&["rev-parse", "HEAD^{tree}"]);
                for _ in 0..9 {
                    let list: Vec<_> = (0..10).map(|n| format!("040000 tree {tree}\td{n}")).collect();
                    let path = place.at("scratch/list");
                    fs::write(&path, list.join("\n") + "\n").unwrap();
                    let script = fill(place, "git -C ROOT mktree < OUT/../scratch/list");
                    let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
                    tree = String::from_utf8(out.stdout).unwrap().trim().to_owned();
                    fs::remove_file(path).unwrap();
                }
                let commit = place.git(&["commit-tree", &tree, "-p", "HEAD", "-m", "bomb"]);
                place.git(&["update-ref", "refs/heads/bomb", &commit]);
            },
            twin: Twin::Hangs(&["show", "--name-only", "bomb"]),
            calls: |_| {
                vec![
                    ("git_show", json!({ "ref": "bomb", "nameOnly": true })),
                    ("git_grep", json!({ "ref": "bomb", "pattern": "nothing" })),
                ]
            },
            outcome: Outcome::Ends,
        },
        Fixture {
            name: "blob-bomb",
            build: |place| {
                two_commits(place);
                place.write("file", "\n".repeat(20_000_000));
                place.commit("bomb");
            },
            twin: Twin::Hangs(&["show", "HEAD"]),
            calls: |_| {
                vec![
                    ("git_show", json!({ "ref": "HEAD:file" })),
                    ("git_show", json!({ "ref": "HEAD" })),
                    ("git_blame", json!({ "path": "file" })),
                ]
            },
            outcome: Outcome::Ends,
        },
    ]);
}

#[test]
fn patterns_of_the_repository_are_not_matched() {
    hold(&[Fixture {
        name: "regex-dos",
        build: |place| {
            place.git(&["init", "-q", "-b", "main"]);
            let line = format!("{}\n", "a".repeat(2_000));
            place.write("file", line.repeat(20) + "x\n");
            place.write(".gitattributes", "* diff=x\n");
            place.commit("first");
            place.write("file", line.repeat(20) + "y\n");
            place.commit("second");
            config(place, "[diff \"x\"]\n\txfuncname = \"^(a*)*(a*)*\\\\1\\\\2\\\\1b$\"");
        },
        twin: Twin::Hangs(&["show"]),
        calls: history,
        outcome: Outcome::Answers,
    }]);
}

#[test]
fn links_in_the_checkout_are_not_followed_for_attributes() {
    hold(&[Fixture {
        name: "gitattributes-link-to-a-device",
        build: |place: &Place| {
            two_commits(place);
            edit(place);
            symlink("/dev/zero", place.repo().join(".gitattributes")).unwrap();
            append(place, ".git/info/exclude", "");
        },
        twin: Twin::Inert,
        calls: history,
        outcome: Outcome::Answers,
    }]);
}
