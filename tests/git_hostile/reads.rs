//! What would tell of files outside of the repository.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::git_support::Place;
use crate::harness::{Fixture, Outcome, SECRET, Twin, all, append, config, edit, history, hold, two_commits};
use serde_json::json;

const LAYOUT: Outcome = Outcome::Refuses("ERR_GIT_LAYOUT");
const TELLS: Twin = Twin::Tells(&["log", "--all"], SECRET);

/// Somebody else's repository, with a secret in its history.
fn private(place: &Place) -> PathBuf {
    let path = place.at("outside/private");
    fs::create_dir(&path).unwrap();
    place.git_in(&path, &["init", "-q", "-b", "main"]);
    fs::write(path.join("file"), format!("{SECRET}\n")).unwrap();
    place.git_in(&path, &["add", "-A"]);
    place.git_in(&path, &["commit", "-q", "-m", SECRET]);
    path
}

#[test]
fn a_git_directory_that_leads_elsewhere_is_refused() {
    let fixture = |name, build| Fixture { name, build, twin: TELLS, calls: all, outcome: LAYOUT };
    hold(&[
        fixture("gitfile-outside", |place| {
            let path = private(place).join(".git");
            place.write(".git", format!("gitdir: {}\n", path.display()));
        }),
        fixture("gitfile-worktree-of-another", |place| {
            let path = private(place);
            place.git_in(&path, &["worktree", "add", "-q", "../tree"]);
            place.write(".git", format!("gitdir: {}\n", path.join(".git/worktrees/tree").display()));
        }),
        fixture("gitfile-module-of-another", |place| {
            let path = private(place);
            place.git_in(&path, &["config", "core.worktree", "../../tree"]);
            fs::create_dir(place.at("outside/tree")).unwrap();
            place.write(".git", format!("gitdir: {}\n", path.join(".git").display()));
        }),
        fixture("gitdir-symlink", |place| {
            symlink(private(place).join(".git"), place.repo().join(".git")).unwrap();
        }),
        fixture("commondir-outside", |place| {
            let path = private(place);
            two_commits(place);
            place.write(".git/commondir", format!("{}\n", path.join(".git").display()));
        }),
        fixture("gitfile-inside-commondir-outside", |place| {
            let path = private(place);
            place.write(".git", "gitdir: own\n");
            place.write("own/HEAD", "ref: refs/heads/main\n");
            place.write("own/gitdir", format!("{}\n", place.repo().join(".git").display()));
            place.write("own/commondir", format!("{}\n", path.join(".git").display()));
        }),
        fixture("alternates-outside", |place| {
            let path = private(place);
            two_commits(place);
            let id = place.git_in(&path, &["rev-parse", "HEAD"]);
            place.write(".git/refs/heads/main", format!("{id}\n"));
            place.write(".git/objects/info/alternates", format!("{}\n", path.join(".git/objects").display()));
        }),
        fixture("objects-symlink", |place| {
            let path = private(place);
            two_commits(place);
            let id = place.git_in(&path, &["rev-parse", "HEAD"]);
            place.write(".git/refs/heads/main", format!("{id}\n"));
            fs::remove_dir_all(place.repo().join(".git/objects")).unwrap();
            symlink(path.join(".git/objects"), place.repo().join(".git/objects")).unwrap();
        }),
        fixture("fan-out-symlinks", |place| {
            let path = private(place);
            two_commits(place);
            let id = place.git_in(&path, &["rev-parse", "HEAD"]);
            place.write(".git/refs/heads/main", format!("{id}\n"));
            for entry in fs::read_dir(path.join(".git/objects")).unwrap() {
                let entry = entry.unwrap();
                let to = place.repo().join(".git/objects").join(entry.file_name());
                if !to.exists() {
                    symlink(entry.path(), to).unwrap();
                }
            }
        }),
        fixture("refs-symlink", |place| {
            let path = private(place);
            two_commits(place);
            place.git_in(&path, &["gc", "-q"]);
            for name in ["refs", "packed-refs", "objects/pack"] {
                let own = place.repo().join(".git").join(name);
                let _ = fs::remove_dir_all(&own);
                symlink(path.join(".git").join(name), own).unwrap();
            }
        }),
    ]);
}

#[test]
fn links_among_references_objects_and_logs_are_refused() {
    let fixture = |name, build| Fixture { name, build, twin: Twin::Inert, calls: history, outcome: LAYOUT };
    hold(&[
        fixture("ref-symlink", |place| {
            two_commits(place);
            symlink(place.at("outside/secret"), place.repo().join(".git/refs/heads/other")).unwrap();
        }),
        fixture("deep-ref-symlink", |place| {
            two_commits(place);
            fs::create_dir_all(place.repo().join(".git/refs/heads/a/b")).unwrap();
            symlink(place.at("outside/secret"), place.repo().join(".git/refs/heads/a/b/c")).unwrap();
        }),
        fixture("pack-symlink", |place| {
            two_commits(place);
            symlink(place.at("outside/secret"), place.repo().join(".git/objects/pack/pack-1.pack")).unwrap();
        }),
        fixture("log-symlink", |place| {
            two_commits(place);
            symlink(place.at("outside/secret"), place.repo().join(".git/logs/refs/heads/other")).unwrap();
        }),
        fixture("head-symlink", |place| {
            two_commits(place);
            fs::remove_file(place.repo().join(".git/HEAD")).unwrap();
            symlink("refs/heads/main", place.repo().join(".git/HEAD")).unwrap();
        }),
        fixture("head-of-an-odd-form", |place| {
            two_commits(place);
            place.write(".git/HEAD", "ref: ../../outside/secret\n");
        }),
        fixture("http-alternates", |place| {
            two_commits(place);
            place.write(".git/objects/info/http-alternates", "http://host/objects\n");
        }),
        fixture("config-symlink", |place| {
            two_commits(place);
            fs::rename(place.repo().join(".git/config"), place.at("outside/config")).unwrap();
            symlink(place.at("outside/config"), place.repo().join(".git/config")).unwrap();
        }),
        fixture("unknown-extension", |place| {
            two_commits(place);
            config(place, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tunheardof = true");
        }),
    ]);
}

/// A repository around the root.
fn parent(place: &Place) {
    fs::write(place.at("file"), format!("{SECRET}\n")).unwrap();
    place.git_in(&place.at(""), &["init", "-q", "-b", "main"]);
    place.git_in(&place.at(""), &["add", "file"]);
    place.git_in(&place.at(""), &["commit", "-q", "-m", SECRET]);
}

#[test]
fn no_other_repository_is_discovered() {
    let fixture =
        |name, build, code| Fixture { name, build, twin: TELLS, calls: all, outcome: Outcome::Refuses(code) };
    hold(&[
        fixture("parent-discovery", parent, "ERR_GIT_NO_REPOSITORY"),
        fixture(
            "parent-discovery-broken-git",
            |place| {
                parent(place);
                fs::create_dir(place.repo().join(".git")).unwrap();
            },
            "ERR_GIT_LAYOUT",
        ),
    ]);
}

#[test]
fn settings_that_name_files_outside_tell_nothing() {
    let fixture = |name, build, twin| Fixture { name, build, twin, calls: all, outcome: Outcome::Answers };
    hold(&[
        fixture(
            "core-worktree",
            |place| {
                two_commits(place);
                fs::write(place.at("outside/file"), format!("{SECRET}\n")).unwrap();
                config(place, "[core]\n\tworktree = OUT");
            },
            Twin::Tells(&["diff"], SECRET),
        ),
        fixture(
            "leak-ignorerevs",
            |place| {
                two_commits(place);
                config(place, "[blame]\n\tignoreRevsFile = OUT/secret");
            },
            Twin::Tells(&["blame", "HEAD", "--", "file"], SECRET),
        ),
        fixture(
            "leak-attributesfile",
            |place| {
                two_commits(place);
                edit(place);
                fs::write(place.at("outside/secret"), format!("* {SECRET}/x\n")).unwrap();
                config(place, "[core]\n\tattributesFile = OUT/secret");
            },
            Twin::Tells(&["diff"], SECRET),
        ),
        fixture(
            "leak-info-attributes-symlink",
            |place| {
                two_commits(place);
                edit(place);
                fs::write(place.at("outside/secret"), format!("* {SECRET}/x\n")).unwrap();
                let link = place.repo().join(".git/info/attributes");
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                symlink(place.at("outside/secret"), link).unwrap();
            },
            Twin::Tells(&["diff"], SECRET),
        ),
        fixture(
            "leak-mailmap-file",
            |place| {
                two_commits(place);
                let text = format!("{SECRET} <x@y> <ann@example.org>\n");
                fs::write(place.at("outside/mailmap"), text).unwrap();
                config(place, "[mailmap]\n\tfile = OUT/mailmap");
            },
            Twin::Tells(&["log"], SECRET),
        ),
        fixture(
            "submodule-log-outside",
            |place| {
                let path = private(place);
                let before = place.git_in(&path, &["rev-parse", "HEAD"]);
                place.git_in(&path, &["commit", "-q", "--allow-empty", "-m", SECRET]);
                let id = place.git_in(&path, &["rev-parse", "HEAD"]);
                two_commits(place);
                fs::create_dir(place.repo().join("sub")).unwrap();
                append(place, "sub/.git", &format!("gitdir: {}", path.join(".git").display()));
                place.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{before},sub")]);
                place.git(&["commit", "-q", "-m", "submodule"]);
                place.git(&["update-index", "--cacheinfo", &format!("160000,{id},sub")]);
                place.git(&["commit", "-q", "-m", "submodule"]);
                config(place, "[diff]\n\tsubmodule = log");
            },
            Twin::Tells(&["show"], SECRET),
        ),
    ]);
}

#[test]
fn paths_that_lead_out_are_refused() {
    hold(&[
        Fixture {
            name: "blame-symlink-dir",
            build: |place| {
                two_commits(place);
                place.write("d/file", "one\n");
                place.commit("directory");
                fs::remove_dir_all(place.repo().join("d")).unwrap();
                fs::write(place.at("outside/file"), format!("{SECRET}\n")).unwrap();
                symlink(place.at("outside"), place.repo().join("d")).unwrap();
            },
            twin: Twin::Tells(&["blame", "--", "d/file"], SECRET),
            calls: |_| {
                vec![
                    ("git_blame", json!({ "path": "d/file" })),
                    ("git_log", json!({ "path": "d/file" })),
                    ("git_show", json!({ "ref": "HEAD:d/file" })),
                    ("git_diff", json!({ "path": "d/file" })),
                    ("git_file", json!({ "ref": "HEAD", "path": "d/../../outside/secret" })),
                ]
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_PATH"),
        },
        Fixture {
            name: "value-exists-oracle",
            build: two_commits,
            twin: Twin::Tells(&["show", "HEAD:../outside/secret"], "outside repository"),
            calls: |place| {
                let (there, not) = (place.at("outside/secret"), place.at("outside/absent"));
                vec![
                    ("git_show", json!({ "ref": format!("HEAD:{}", there.display()) })),
                    ("git_show", json!({ "ref": format!("HEAD:{}", not.display()) })),
                    ("git_blame", json!({ "path": there })),
                    ("git_blame", json!({ "path": not })),
                ]
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_PATH"),
        },
    ]);
}

#[test]
fn two_paths_are_never_compared() {
    hold(&[
        Fixture {
            name: "value-no-index",
            build: two_commits,
            twin: Twin::Tells(&["diff", "OUT/secret", "/dev/null"], SECRET),
            calls: |place| {
                let secret = place.at("outside/secret");
                vec![
                    ("git_diff", json!({ "base": secret, "head": "/dev/null" })),
                    ("git_diff", json!({ "base": "/dev/null", "head": secret })),
                    ("git_diff", json!({ "base": "../outside/secret", "head": "/dev/null" })),
                    ("git_diff", json!({ "base": secret })),
                ]
            },
            outcome: Outcome::Refuses("ERR_GIT_BAD_REVISION"),
        },
        Fixture {
            name: "value-no-index-nonrepo",
            build: |place| {
                fs::write(place.at("outside/secret"), format!("{SECRET}\n")).unwrap();
                fs::write(place.repo().join("file"), "x\n").unwrap();
            },
            twin: Twin::Tells(&["diff", "OUT/secret", "/dev/null"], SECRET),
            calls: |place| {
                vec![
                    ("git_diff", json!({ "base": place.at("outside/secret"), "head": "/dev/null" })),
                    ("git_diff", json!({ "path": "file" })),
                    ("git_diff", json!({})),
                ]
            },
            outcome: Outcome::Refuses("ERR_GIT_NO_REPOSITORY"),
        },
    ]);
}
