//! What would run a program.

use std::fs;

use crate::git_support::Place;
use crate::harness::{
    Fixture, Outcome, Twin, all, append, config, edit, fifo, history, hold, script, two_commits,
};
use serde_json::{Value, json};

const DIFF: Twin = Twin::Runs(&["diff"]);
const LOG: Twin = Twin::Runs(&["log"]);

fn filtered(place: &Place, attribute: &str) {
    two_commits(place);
    place.write(".gitattributes", format!("* {attribute}\n"));
    place.commit("attributes");
    edit(place);
}

#[test]
fn filters_of_the_repository_do_not_run() {
    let fixture = |name, build| Fixture { name, build, twin: DIFF, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture("filter-clean", |place| {
            filtered(place, "filter=x");
            config(place, "[filter \"x\"]\n\tclean = touch MARK; cat");
        }),
        fixture("filter-process", |place| {
            filtered(place, "filter=x");
            config(place, "[filter \"x\"]\n\tprocess = touch MARK; exit 1");
        }),
        fixture("filter-dotted-name", |place| {
            filtered(place, "filter=a.b.c");
            config(place, "[filter \"a.b.c\"]\n\tclean = touch MARK; cat");
        }),
        fixture("filter-eq-name", |place| {
            filtered(place, "filter=a=b");
            config(place, "[filter \"a=b\"]\n\tclean = touch MARK; cat");
        }),
        fixture("filter-include", |place| {
            filtered(place, "filter=x");
            append(place, ".git/extra", "[filter \"x\"]\n\tclean = touch MARK; cat");
            config(place, "[include]\n\tpath = extra");
        }),
        fixture("filter-includeif", |place| {
            filtered(place, "filter=x");
            append(place, ".git/extra", "[filter \"x\"]\n\tclean = touch MARK; cat");
            config(place, "[includeIf \"gitdir:**\"]\n\tpath = extra");
        }),
        fixture("filter-worktree-config", |place| {
            filtered(place, "filter=x");
            append(place, ".git/config.worktree", "[filter \"x\"]\n\tclean = touch MARK; cat");
            config(place, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true");
        }),
    ]);
}

#[test]
fn attributes_from_anywhere_switch_nothing_on() {
    let fixture = |name, build| Fixture { name, build, twin: DIFF, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture("filter-info-attributes", |place| {
            two_commits(place);
            edit(place);
            append(place, ".git/info/attributes", "* filter=x");
            config(place, "[filter \"x\"]\n\tclean = touch MARK; cat");
        }),
        fixture("filter-core-attributesfile", |place| {
            two_commits(place);
            edit(place);
            append(place, ".git/attributes", "* filter=x");
            config(
                place,
                "[core]\n\tattributesFile = ROOT/.git/attributes\n[filter \"x\"]\n\tclean = touch MARK; cat",
            );
        }),
        fixture("global-filter", |place| {
            filtered(place, "filter=x");
            let marker = place.at("marker").display().to_string();
            let text = format!("[filter \"x\"]\n\tclean = touch {marker}; cat\n");
            fs::write(place.at("home/.gitconfig"), text).unwrap();
        }),
        fixture("global-xdg-attributes", |place| {
            two_commits(place);
            edit(place);
            config(place, "[filter \"x\"]\n\tclean = touch MARK; cat");
            fs::create_dir_all(place.at("home/.config/git")).unwrap();
            fs::write(place.at("home/.config/git/attributes"), "* filter=x\n").unwrap();
        }),
    ]);
}

#[test]
fn text_conversions_external_diffs_and_hooks_do_not_run() {
    hold(&[
        Fixture {
            name: "textconv",
            build: |place| {
                filtered(place, "diff=x");
                config(place, "[diff \"x\"]\n\ttextconv = touch MARK; cat");
            },
            twin: Twin::Runs(&["blame", "HEAD", "--", "file"]),
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "diff-external",
            build: |place| {
                filtered(place, "diff=x");
                config(place, "[diff]\n\texternal = touch MARK;\n[diff \"x\"]\n\tcommand = touch MARK;");
            },
            twin: DIFF,
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "hook-post-index-change",
            build: |place| {
                two_commits(place);
                fs::create_dir_all(place.repo().join(".git/hooks")).unwrap();
                script(place, &place.repo().join(".git/hooks/post-index-change"), "touch MARK");
                stale(place);
            },
            twin: DIFF,
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "hookspath-post-index-change",
            build: |place| {
                two_commits(place);
                script(place, &place.at("outside/post-index-change"), "touch MARK");
                config(place, "[core]\n\thooksPath = OUT");
                stale(place);
            },
            twin: DIFF,
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "fsmonitor",
            build: |place| {
                two_commits(place);
                edit(place);
                script(place, &place.at("outside/evil"), "touch MARK");
                config(place, "[core]\n\tfsmonitor = OUT/evil");
            },
            twin: Twin::Runs(&["status"]),
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "programs-by-the-dozen",
            build: |place| {
                filtered(place, "merge=x");
                config(
                    place,
                    "[core]\n\tpager = touch MARK; cat\n\teditor = touch MARK;\n\taskPass = OUT/evil\n[pager]\n\tlog = \
                     touch MARK; cat\n\tdiff = touch MARK; cat\n\tshow = touch MARK; cat\n[alias]\n\tlog = !touch MARK\n\
                     \tdiff = !touch MARK\n[interactive]\n\tdiffFilter = touch MARK; cat\n[log]\n\tdiffMerges = remerge\n\
                     [merge \"x\"]\n\tdriver = touch MARK\n[trace2]\n\teventTarget = MARK\n[sequence]\n\teditor = touch MARK;",
                );
            },
            twin: Twin::Inert,
            calls: all,
            outcome: Outcome::Answers,
        },
    ]);
}

/// Makes git look into an unchanged file, and so rewrite its index.
fn stale(place: &Place) {
    let done = std::process::Command::new("touch")
        .args(["-d", "2001-01-01"])
        .arg(place.repo().join("file"))
        .status()
        .unwrap();
    assert!(done.success());
}

/// A commit with a signature that nobody made.
fn signed(place: &Place, kind: &str, settings: &str) {
    two_commits(place);
    let commit = place.git(&["cat-file", "commit", "HEAD"]);
    let (head, body) = commit.split_once("\n\n").unwrap();
    let text = format!("{head}\ngpgsig -----BEGIN {kind}-----\n \n abcd\n -----END {kind}-----\n\n{body}\n");
    fs::write(place.at("scratch/commit"), text).unwrap();
    let file = place.at("scratch/commit").display().to_string();
    let id = place.git(&["hash-object", "-t", "commit", "-w", &file]);
    fs::remove_file(&file).unwrap();
    place.git(&["reset", "-q", "--hard", &id]);
    script(place, &place.at("outside/evil"), "touch MARK");
    fs::write(place.at("outside/signers"), "a@b ssh-ed25519 AAAA\n").unwrap();
    config(place, settings);
}

#[test]
fn signatures_are_not_checked() {
    let fixture = |name, build| Fixture { name, build, twin: LOG, calls: history, outcome: Outcome::Answers };
    hold(&[
        fixture("showsig-gpg", |place| {
            signed(place, "PGP SIGNATURE", "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = OUT/evil");
        }),
        fixture("showsig-openpgp", |place| {
            signed(
                place,
                "PGP SIGNATURE",
                "[log]\n\tshowSignature = true\n[gpg \"openpgp\"]\n\tprogram = OUT/evil",
            );
        }),
        fixture("showsig-x509", |place| {
            signed(
                place,
                "SIGNED MESSAGE",
                "[log]\n\tshowSignature = true\n[gpg \"x509\"]\n\tprogram = OUT/evil",
            );
        }),
        fixture("showsig-ssh", |place| {
            signed(
                place,
                "SSH SIGNATURE",
                "[log]\n\tshowSignature = true\n[gpg \"ssh\"]\n\tprogram = OUT/evil\n\tallowedSignersFile = OUT/signers",
            );
        }),
        fixture("pretty-gpg", |place| {
            signed(place, "PGP SIGNATURE", "[format]\n\tpretty = format:%G?\n[gpg]\n\tprogram = OUT/evil");
        }),
        Fixture {
            name: "pretty-alias-gpg",
            build: |place| {
                let settings = "[pretty]\n\tevil = format:%G?\n\toneline = format:%G?\n\tstat = format:%G?\n[gpg]\n\tprogram = OUT/evil";
                signed(place, "PGP SIGNATURE", settings);
            },
            twin: Twin::Runs(&["log", "--format=evil"]),
            calls: history,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "value-format-gpg",
            build: |place| {
                signed(place, "PGP SIGNATURE", "[pretty]\n\tevil = format:%G?\n[gpg]\n\tprogram = OUT/evil");
            },
            twin: Twin::Runs(&["log", "--format=%G?"]),
            calls: |_| {
                vec![("git_log", json!({ "format": "evil" })), ("git_log", json!({ "format": "%G?" }))]
            },
            outcome: Outcome::Refuses("ERR_BAD_OPTION"),
        },
    ]);
}

/// A repository that says of itself that what it lacks is elsewhere.
fn promised(place: &Place, settings: &str) {
    two_commits(place);
    place.git_in(&place.at(""), &["clone", "-q", "--bare", "repo", "outside/source"]);
    let blob = place.git(&["rev-parse", "HEAD:file"]);
    let (fan, rest) = blob.split_at(2);
    fs::remove_file(place.repo().join(".git/objects").join(fan).join(rest)).unwrap();
    script(place, &place.at("outside/evil"), "touch MARK; exit 1");
    config(
        place,
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true",
    );
    config(place, settings);
}

fn lacking(_: &Place) -> Vec<(&'static str, Value)> {
    vec![
        ("git_show", json!({ "ref": "HEAD" })),
        ("git_show", json!({ "ref": "HEAD:file" })),
        ("git_diff", json!({ "base": "HEAD~1", "head": "HEAD" })),
        ("git_blame", json!({ "path": "file" })),
        ("git_log", json!({ "format": "stat" })),
    ]
}

#[test]
fn nothing_is_fetched() {
    let fixture = |name, build| Fixture {
        name,
        build,
        twin: Twin::Runs(&["cat-file", "blob", "HEAD:file"]),
        calls: lacking,
        outcome: Outcome::Refuses("ERR_GIT_MISSING_OBJECT"),
    };
    hold(&[
        fixture("promisor-ssh", |place| {
            promised(place, "\turl = ssh://host/path\n[core]\n\tsshCommand = touch MARK; false");
        }),
        fixture("promisor-ext", |place| {
            promised(place, "\turl = \"ext::sh -c touch% MARK\"\n[protocol \"ext\"]\n\tallow = always");
        }),
        fixture("promisor-uploadpack", |place| {
            promised(place, "\turl = OUT/source\n\tuploadpack = touch MARK; git-upload-pack");
        }),
        fixture("promisor-gitproxy", |place| {
            promised(place, "\turl = git://host/path\n[core]\n\tgitProxy = OUT/evil");
        }),
        fixture("promisor-insteadof", |place| {
            promised(
                place,
                "\turl = good:x\n[url \"ext::sh -c touch% MARK\"]\n\tinsteadOf = good:x\n[protocol \"ext\"]\n\tallow = always",
            );
        }),
        Fixture {
            name: "promisor-unknown-id",
            build: |place| {
                promised(place, "\turl = ssh://host/path\n[core]\n\tsshCommand = touch MARK; false");
            },
            twin: Twin::Runs(&["rev-parse", "--verify", "0123456789012345678901234567890123456789^{commit}"]),
            calls: |_| {
                let id = "0123456789012345678901234567890123456789";
                vec![("git_log", json!({ "ref": id })), ("git_show", json!({ "ref": id }))]
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_REVISION"),
        },
    ]);
}

fn with_submodule(place: &Place) {
    two_commits(place);
    place.git_in(&place.at(""), &["clone", "-q", "repo", "outside/source"]);
    let source = place.at("outside/source").display().to_string();
    place.git(&["submodule", "--quiet", "add", &source, "sub"]);
    place.commit("submodule");
    let sub = place.repo().join("sub");
    fs::write(sub.join("file"), "moved\n").unwrap();
    place.git_in(&sub, &["commit", "-q", "-a", "-m", "moved"]);
    place.commit("pointer");
}

#[test]
fn submodules_run_nothing_of_their_own() {
    hold(&[
        Fixture {
            name: "submodule-filter",
            build: |place| {
                with_submodule(place);
                append(place, ".git/modules/sub/config", "[filter \"x\"]\n\tclean = touch MARK; cat");
                append(place, ".git/modules/sub/info/attributes", "* filter=x");
                fs::write(place.repo().join("sub/file"), "dirty\n").unwrap();
            },
            twin: DIFF,
            calls: all,
            outcome: Outcome::Answers,
        },
        Fixture {
            name: "submodule-inline-diff",
            build: |place| {
                with_submodule(place);
                append(place, ".git/modules/sub/config", "[diff]\n\texternal = touch MARK;");
                config(place, "[diff]\n\tsubmodule = diff");
            },
            twin: Twin::Runs(&["show", "--no-ext-diff", "--no-textconv"]),
            calls: all,
            outcome: Outcome::Answers,
        },
    ]);
}

#[test]
fn a_linked_worktree_is_held_to_the_same() {
    hold(&[Fixture {
        name: "linked-worktree",
        build: |place| {
            let main = place.at("outside/main");
            fs::create_dir(&main).unwrap();
            place.git_in(&main, &["init", "-q", "-b", "main"]);
            for text in ["one\n", "one\ntwo\n"] {
                fs::write(main.join("file"), text).unwrap();
                fs::write(main.join(".gitattributes"), "* filter=x diff=x -text\n").unwrap();
                place.git_in(&main, &["add", "-A"]);
                place.git_in(&main, &["commit", "-q", "-m", "one more"]);
            }
            place.git_in(&main, &["worktree", "add", "-q", "-b", "tree", "../../repo"]);
            let programs =
                "[filter \"x\"]\n\tclean = touch MARK; cat\n[diff \"x\"]\n\ttextconv = touch MARK; cat";
            append(place, "../outside/main/.git/config", programs);
            append(place, "../outside/main/.git/worktrees/repo/config.worktree", programs);
            fifo(&place.repo().join(".mailmap"));
            edit(place);
        },
        twin: DIFF,
        calls: all,
        outcome: Outcome::Answers,
    }]);
}

#[test]
fn files_that_look_like_a_bare_repository_are_none() {
    hold(&[Fixture {
        name: "embedded-bare",
        build: |place| {
            signed(place, "PGP SIGNATURE", "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = OUT/evil");
            fs::remove_file(place.repo().join("file")).unwrap();
            for entry in fs::read_dir(place.repo().join(".git")).unwrap() {
                let entry = entry.unwrap();
                fs::rename(entry.path(), place.repo().join(entry.file_name())).unwrap();
            }
            fs::remove_dir(place.repo().join(".git")).unwrap();
            append(place, "config", "[core]\n\tbare = true");
        },
        twin: LOG,
        calls: all,
        outcome: Outcome::Refuses("ERR_GIT_LAYOUT"),
    }]);
}
