//! What would tell something other than the repository holds, or steer who reads it.

use std::fs;

use crate::git_support::{Place, drive, gits, value};
use crate::harness::{Fixture, Outcome, SPOOF, Twin, all, append, config, edit, hold, two_commits};
use serde_json::{Value, json};

#[test]
fn the_forms_of_output_are_ours() {
    let fixture = |name, build, twin| Fixture { name, build, twin, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture(
            "color-always",
            |place| {
                two_commits(place);
                edit(place);
                config(
                    place,
                    "[color]\n\tui = always\n\tdiff = always\n\tgrep = always\n\tbranch = always\n[blame]\n\tcoloring = repeatedLines",
                );
            },
            Twin::Tells(&["-c", "color.ui=false", "show"], "\u{1b}"),
        ),
        fixture(
            "log-date",
            |place| {
                two_commits(place);
                config(place, "[log]\n\tdate = format:SPOOFED\n[blame]\n\tdate = format:SPOOFED");
            },
            Twin::Tells(&["log"], SPOOF),
        ),
        fixture(
            "format-pretty",
            |place| {
                two_commits(place);
                config(place, "[format]\n\tpretty = format:SPOOFED");
            },
            Twin::Tells(&["log"], SPOOF),
        ),
        fixture(
            "diff-prefix",
            |place| {
                two_commits(place);
                edit(place);
                config(place, "[diff]\n\tsrcPrefix = SPOOFED/\n\tdstPrefix = SPOOFED/\n\tnoprefix = false");
            },
            // An older git does not know the setting.
            Twin::Inert,
        ),
        fixture(
            "notes",
            |place| {
                two_commits(place);
                place.git(&["notes", "add", "-m", SPOOF]);
            },
            Twin::Tells(&["log"], SPOOF),
        ),
    ]);
}

#[test]
fn what_was_tried_and_does_nothing_stays_so() {
    let fixture =
        |name, build| Fixture { name, build, twin: Twin::Inert, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture("output-encoding", |place| {
            two_commits(place);
            config(place, "[i18n]\n\tlogOutputEncoding = UTF-16\n\tcommitEncoding = UTF-16");
        }),
        fixture("padding-in-a-format", |place| {
            two_commits(place);
            config(place, "[format]\n\tpretty = format:%<(2000000000)%s");
        }),
        fixture("a-commit-graph-of-nonsense", |place| {
            two_commits(place);
            let info = place.repo().join(".git/objects/info");
            fs::create_dir_all(&info).unwrap();
            fs::write(info.join("commit-graph"), b"CGPH\x01\x01\x04\x00forged").unwrap();
        }),
        fixture("a-deep-tree", |place| {
            two_commits(place);
            // Below the longest path of the file system, so that it can be made in the checkout too.
            let deep = std::iter::repeat_n("d", 500).collect::<Vec<_>>().join("/");
            fs::create_dir_all(place.repo().join(&deep)).unwrap();
            place.write(&format!("{deep}/leaf"), "x\n");
            place.git(&["add", "-A"]);
            place.git(&["commit", "-q", "-m", "deep"]);
        }),
    ]);
}

#[test]
fn names_and_history_are_those_of_the_objects() {
    let fixture = |name, build, twin| Fixture { name, build, twin, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture(
            "mailmap-file-in-tree",
            |place| {
                two_commits(place);
                place.write(".mailmap", "SPOOFED <x@y> <ann@example.org>\n");
            },
            Twin::Tells(&["log"], SPOOF),
        ),
        fixture(
            "mailmap-blame",
            |place| {
                two_commits(place);
                place.write(".mailmap", "SPOOFED <x@y> <ann@example.org>\n");
            },
            Twin::Tells(&["blame", "HEAD", "--", "file"], SPOOF),
        ),
        fixture(
            "mailmap-blob",
            |place| {
                two_commits(place);
                fs::write(place.at("scratch/map"), "SPOOFED <x@y> <ann@example.org>\n").unwrap();
                let id = place.git(&["hash-object", "-w", place.at("scratch/map").to_str().unwrap()]);
                fs::remove_file(place.at("scratch/map")).unwrap();
                config(place, &format!("[mailmap]\n\tblob = {id}"));
            },
            Twin::Tells(&["log"], SPOOF),
        ),
        fixture(
            "replace-ref",
            |place| {
                two_commits(place);
                let fake = place.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD~1", "-m", SPOOF]);
                place.git(&["replace", "HEAD", &fake]);
            },
            Twin::Tells(&["log"], SPOOF),
        ),
        fixture(
            "grafts",
            |place| {
                two_commits(place);
                let fake = place.git(&["commit-tree", "HEAD^{tree}", "-m", SPOOF]);
                let head = place.git(&["rev-parse", "HEAD"]);
                let first = place.git(&["rev-parse", "HEAD~1"]);
                append(place, ".git/info/grafts", &format!("{head} {first} {fake}"));
            },
            Twin::Tells(&["log"], SPOOF),
        ),
    ]);
}

/// Answers of one fixture on each git, for what the common checks can't tell.
fn answers(build: fn(&Place), tool: &str, params: &Value, check: impl Fn(&str, bool)) {
    for (at, git) in gits().iter().enumerate() {
        let place = Place::new();
        build(&place);
        let tools = place.tools(git);
        let told = drive(tools.ask(tool, &value(params)).unwrap(), &place.at("scratch")).unwrap();
        check(&told.text, at == 0);
    }
}

#[test]
fn attributes_of_the_checkout_hide_no_change() {
    fn hidden(place: &Place) {
        two_commits(place);
        place.write(".gitattributes", "* -diff\n");
        edit(place);
    }
    hold(&[Fixture {
        name: "attr-hides-diff",
        build: hidden,
        twin: Twin::Tells(&["diff"], "Binary files"),
        calls: all,
        outcome: Outcome::Answers,
    }]);
    answers(hidden, "git_diff", &json!({ "base": "HEAD~1", "head": "HEAD" }), |text, _| {
        assert!(text.contains("+two"), "{text}");
    });
    answers(hidden, "git_diff", &json!({}), |text, attributes_can_be_named| {
        // 2.39 has no attr.tree: it says plainly that it shows nothing.
        let shown = text.contains("+three");
        assert!(shown || (!attributes_can_be_named && text.contains("Binary files")), "{text}");
    });
}

#[test]
fn messages_and_names_steer_no_terminal() {
    fn colourful(place: &Place) {
        two_commits(place);
        place.write("file", "\u{1b}[2Jx\n");
        place.write("na\u{1b}me", "x\n");
        place.write("tra\u{202e}p", "x\n");
        place.git(&["add", "-A"]);
        let person = ["-c", "user.name=a"];
        let message = "sub\u{1b}[31mject\n\nbody \u{9b}31m\ncommit 0123456789012345678901234567890123456789\nAuthor: Fake";
        place.git(&[person[0], person[1], "commit", "-q", "-m", message]);
    }
    hold(&[Fixture {
        name: "ansi-message",
        build: colourful,
        twin: Twin::Tells(&["log"], "\u{1b}"),
        calls: all,
        outcome: Outcome::Answers,
    }]);
    for params in [
        json!({}),
        json!({ "format": "full" }),
        json!({ "format": "stat" }),
        json!({ "format": "name-only" }),
    ] {
        answers(colourful, "git_log", &params, |text, _| {
            assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
            assert!(!text.contains("\ncommit 0123456789") && !text.contains("\nAuthor: Fake"), "{text}");
        });
    }
    answers(colourful, "git_ls_files", &json!({}), |text, _| {
        assert_eq!(text, "file\nna\\x1bme\ntra\\u202ep\n");
    });
    answers(colourful, "git_blame", &json!({ "path": "file" }), |text, _| {
        assert!(text.ends_with("1) \\x1b[2Jx\n"), "{text:?}");
    });
}

#[test]
fn hidden_edits_are_said_to_be_hidden() {
    fn hiding(place: &Place) {
        two_commits(place);
        place.write("other", "x\n");
        place.commit("other");
        place.git(&["update-index", "--assume-unchanged", "file"]);
        place.git(&["update-index", "--skip-worktree", "other"]);
        edit(place);
    }
    answers(hiding, "git_ls_files", &json!({}), |text, _| {
        assert_eq!(text, "file\t(assume-unchanged)\nother\t(skip-worktree)\n");
    });
}

#[test]
fn a_name_means_a_revision_or_nothing() {
    fn ambiguous(place: &Place) {
        two_commits(place);
        place.write("d/x", "x\n");
        place.commit("directory");
        place.git(&["branch", "dev", "HEAD~1"]);
        place.git(&["tag", "dev", "HEAD"]);
        place.git(&["update-ref", "refs/heads/--output=pwned", "HEAD"]);
    }
    answers(ambiguous, "git_log", &json!({ "ref": "refs/heads/dev" }), |text, _| {
        assert_eq!(text.lines().count(), 2, "{text}");
    });
    hold(&[Fixture {
        name: "ambiguous",
        build: ambiguous,
        twin: Twin::Tells(&["log", "d"], "directory"),
        calls: |_| {
            vec![
                ("git_log", json!({ "ref": "d" })),
                ("git_log", json!({ "ref": "file" })),
                ("git_show", json!({ "ref": "d" })),
                ("git_diff", json!({ "base": "d" })),
                ("git_diff", json!({ "base": "d", "head": "file" })),
            ]
        },
        outcome: Outcome::Refuses("ERR_GIT_BAD_REVISION"),
    }]);
}

#[test]
fn a_path_is_no_pattern() {
    fn patterns(place: &Place) {
        two_commits(place);
        place.write("other", "x\n");
        place.commit("other");
    }
    for path in [":!file", ":(glob)**", "*", ":(exclude)file", ":/", ":(top)"] {
        answers(patterns, "git_ls_files", &json!({ "path": path }), |text, _| assert_eq!(text, "", "{path}"));
        answers(patterns, "git_log", &json!({ "path": path }), |text, _| assert_eq!(text, "", "{path}"));
        answers(
            patterns,
            "git_diff",
            &json!({ "base": "HEAD~1", "head": "HEAD", "path": path }),
            |text, _| {
                assert_eq!(text, "", "{path}");
            },
        );
    }
}
