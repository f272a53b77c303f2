//! What would write into the repository, or elsewhere.

use std::fs;
use std::process::Command;

use crate::git_support::Place;
use crate::harness::{Fixture, Outcome, Twin, all, config, edit, hold, two_commits};

fn stale(place: &Place) {
    two_commits(place);
    let file = place.repo().join("file");
    assert!(Command::new("touch").args(["-d", "2001-01-01"]).arg(file).status().unwrap().success());
}

#[test]
fn the_index_the_objects_and_the_references_stay_as_they_are() {
    hold(&[
        Fixture {
            name: "index-write",
            build: stale,
            twin: Twin::Writes(&["diff"]),
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "textconv-cache",
            build: |place| {
                two_commits(place);
                place.write(".gitattributes", "* diff=x\n");
                place.commit("attributes");
                config(place, "[diff \"x\"]\n\ttextconv = cat\n\tcachetextconv = true");
            },
            twin: Twin::Writes(&["blame", "HEAD", "--", "file"]),
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "split-index-write",
            build: |place| {
                stale(place);
                place.git(&["update-index", "--split-index"]);
                edit(place);
            },
            twin: Twin::Inert,
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "sparse-index-write",
            build: |place| {
                two_commits(place);
                place.write("in/a", "a\n");
                place.write("out/b", "b\n");
                place.commit("directories");
                place.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
                edit(place);
            },
            twin: Twin::Inert,
            calls: all,
            outcome: Outcome::Answers,
        },
    ]);
}

#[test]
fn nothing_is_fetched_or_traced() {
    hold(&[
        Fixture {
            name: "promisor-file",
            build: |place| {
                two_commits(place);
                place.git_in(&place.at(""), &["clone", "-q", "--bare", "repo", "outside/source"]);
                let blob = place.git(&["rev-parse", "HEAD:file"]);
                let (fan, rest) = blob.split_at(2);
                fs::remove_file(place.repo().join(".git/objects").join(fan).join(rest)).unwrap();
                config(
                    place,
                    "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\t\
                     promisor = true\n\turl = OUT/source",
                );
            },
            twin: Twin::Writes(&["cat-file", "blob", "HEAD:file"]),
            calls: |_| vec![("git_show", serde_json::json!({ "ref": "HEAD:file" }))],
            outcome: Outcome::Refuses("ERR_GIT_MISSING_OBJECT"),
        },
        Fixture {
            name: "global-trace2",
            build: |place| {
                two_commits(place);
                let marker = place.at("marker").display().to_string();
                fs::write(place.at("home/.gitconfig"), format!("[trace2]\n\teventTarget = {marker}\n"))
                    .unwrap();
            },
            // The file that it writes is the one that a program would leave.
            twin: Twin::Runs(&["log"]),
            calls: all,
            outcome: Outcome::Answers,
        },
    ]);
}
