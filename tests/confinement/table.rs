//! Each rule by its cases.

use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use argvault::sandbox::{ConfinedDir, WorkspaceRoot};
use nix::sys::stat::fstat;

use crate::tree::{Tree, check_wording, variant};
use crate::unprivileged::{go_on, set_mode};

#[test]
fn a_cwd_inside_the_root_is_opened_however_it_is_spelled() {
    let tree = Tree::with_links();
    for given_root in ["root", "alias", "alias/", "root/../alias", "alias/sub/.."] {
        let root = WorkspaceRoot::open(&tree.text(given_root)).unwrap();
        assert_eq!(root.path(), tree.path("root"), "{given_root}");
        let cases = [
            (None, "root"),
            (Some(String::new()), "root"),
            (Some(".".into()), "root"),
            (Some("sub".into()), "root/sub"),
            (Some("sub/".into()), "root/sub"),
            (Some("./sub//deep/.".into()), "root/sub/deep"),
            (Some("sub/deep/../..".into()), "root"),
            (Some("sub/../sub/deep".into()), "root/sub/deep"),
            (Some("in/deep".into()), "root/sub/deep"),
            (Some("in/..".into()), "root"),
            (Some("abs-in".into()), "root/sub"),
            (Some("abs-in/deep/..".into()), "root/sub"),
            (Some("chain".into()), "root/sub/deep"),
            (Some("back/deep".into()), "root/sub/deep"),
            (Some("by-alias".into()), "root/sub"),
            (Some("../root/sub".into()), "root/sub"),
            (Some(tree.text("root")), "root"),
            (Some(tree.text("root/abs-in")), "root/sub"),
            (Some(tree.text("alias")), "root"),
            (Some(tree.text("alias/sub")), "root/sub"),
            (Some(tree.text("alias/../root/in")), "root/sub"),
            (Some(tree.text("outside/../root/sub")), "root/sub"),
            (Some(tree.text(&format!("{given_root}/sub"))), "root/sub"),
        ];
        for (cwd, expected) in cases {
            let opened = ConfinedDir::open(&root, cwd.as_deref());
            let dir = opened.unwrap_or_else(|error| panic!("{given_root} {cwd:?}: {error}"));
            assert_eq!(dir.path(), tree.path(expected), "{given_root} {cwd:?}");
            assert_eq!(dir.given(), cwd.as_deref());
            assert_eq!(fstat(&dir).unwrap().st_ino, tree.path(expected).metadata().unwrap().ino());
        }
    }
}

#[test]
fn a_refused_cwd_says_why_and_names_the_path_as_given_and_as_resolved() {
    let tree = Tree::with_links();
    let outside = "outside the permitted root";
    let missing = "not an existing directory";
    let cases = [
        ("..", "CwdOutsideRoot", outside, ""),
        ("../outside", "CwdOutsideRoot", outside, "outside"),
        ("sub/../../outside", "CwdOutsideRoot", outside, "outside"),
        ("../root-evil", "CwdOutsideRoot", outside, "root-evil"),
        ("evil", "CwdOutsideRoot", outside, "root-evil"),
        ("out", "CwdOutsideRoot", outside, "outside"),
        ("out/deep", "CwdOutsideRoot", outside, "outside/deep"),
        ("abs-out/deep", "CwdOutsideRoot", outside, "outside/deep"),
        // Nothing tells what exists outside.
        ("../nothing", "CwdOutsideRoot", outside, "nothing"),
        ("out/nothing", "CwdOutsideRoot", outside, "outside/nothing"),
        ("out-missing", "CwdOutsideRoot", outside, "outside/nothing"),
        ("nothing", "CwdMissing", missing, "root/nothing"),
        ("sub/nothing/x", "CwdMissing", missing, "root/sub/nothing/x"),
        ("abs-in/nothing", "CwdMissing", missing, "root/sub/nothing"),
        ("dangling", "CwdMissing", missing, "root/nothing"),
        ("file", "CwdNotADirectory", missing, "root/file"),
        ("file/x", "CwdNotADirectory", missing, "root/file/x"),
        ("to-file", "CwdNotADirectory", missing, "root/file"),
        ("loop", "CwdUnusable", "symbolic links", "root/loop"),
    ];
    let absolute = [
        (tree.text("outside"), "CwdOutsideRoot", outside, "outside"),
        (tree.text("root-evil"), "CwdOutsideRoot", outside, "root-evil"),
        (tree.text("root/../root-evil"), "CwdOutsideRoot", outside, "root-evil"),
        (tree.text("root/out"), "CwdOutsideRoot", outside, "outside"),
        (tree.text("alias/../outside"), "CwdOutsideRoot", outside, "outside"),
        (tree.text("root/nothing"), "CwdMissing", missing, "root/nothing"),
    ];
    let relative = cases.into_iter().map(|(cwd, name, words, at)| (cwd.to_owned(), name, words, at));
    for (cwd, expected, words, resolved) in relative.chain(absolute) {
        let error = ConfinedDir::open(&tree.root(), Some(&cwd)).unwrap_err();
        let message = error.to_string();
        assert_eq!(variant(&error), expected, "{cwd}: {message}");
        assert!(message.contains(words), "{cwd}: {message}");
        let resolved = tree.path(resolved).components().collect::<PathBuf>();
        assert_eq!(error.details()["resolved"], resolved.to_str().unwrap(), "{cwd}");
        assert!(message.contains(resolved.to_str().unwrap()), "{cwd}: {message}");
        assert_eq!(error.details()["cwd"], cwd);
        check_wording(&error);
    }
}

#[test]
fn a_nul_and_a_name_that_is_too_long_are_refused() {
    let tree = Tree::new();
    for (cwd, expected) in [("sub\0/deep".to_owned(), "CwdNul"), ("x".repeat(300), "CwdUnusable")] {
        let error = ConfinedDir::open(&tree.root(), Some(&cwd)).unwrap_err();
        assert_eq!(variant(&error), expected);
        check_wording(&error);
    }
}

#[test]
fn a_root_that_cannot_be_opened_is_refused() {
    let tree = Tree::with_links();
    for (given, expected) in [
        (String::new(), "RootNotAbsolute"),
        (".".into(), "RootNotAbsolute"),
        ("some/dir".into(), "RootNotAbsolute"),
        (tree.text("nothing"), "RootMissing"),
        (tree.text("root/dangling"), "RootMissing"),
        (tree.text("root/file"), "RootNotADirectory"),
        (tree.text("root/file/x"), "RootNotADirectory"),
        (tree.text("root/loop"), "RootUnusable"),
        (tree.text("a\0b"), "RootUnusable"),
        ("/proc/self/cwd".into(), "RootUnusable"),
    ] {
        let error = WorkspaceRoot::open(&given).unwrap_err();
        assert_eq!(variant(&error), expected, "{given:?}");
        check_wording(&error);
    }
}

#[test]
fn the_whole_file_system_may_be_the_root() {
    let root = WorkspaceRoot::open("/").unwrap();
    for cwd in ["/usr", "usr", "../usr", "/", ".."] {
        let expected = if cwd.ends_with("usr") { "/usr" } else { "/" };
        assert_eq!(ConfinedDir::open(&root, Some(cwd)).unwrap().path(), Path::new(expected), "{cwd}");
    }
}

#[test]
fn a_directory_that_is_no_utf8_is_opened_and_named() {
    let tree = Tree::new();
    let odd = tree.path("root").join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    std::fs::create_dir(&odd).unwrap();
    symlink(&odd, tree.path("root/odd")).unwrap();
    assert_eq!(ConfinedDir::open(&tree.root(), Some("odd")).unwrap().path(), odd);
    let error = ConfinedDir::open(&tree.root(), Some("odd/nothing")).unwrap_err();
    assert_eq!(variant(&error), "CwdMissing");
    check_wording(&error);
    let odd_root = WorkspaceRoot::open(&tree.text("root/odd")).unwrap();
    assert_eq!(ConfinedDir::open(&odd_root, None).unwrap().path(), odd);
}

#[test]
fn what_is_swapped_after_the_check_changes_nothing() {
    let tree = Tree::new();
    let dir = ConfinedDir::open(&tree.root(), Some("sub")).unwrap();
    std::fs::rename(tree.path("root/sub"), tree.path("root/moved")).unwrap();
    symlink(tree.path("outside"), tree.path("root/sub")).unwrap();
    // The child's own chdir to the descriptor, as `fchdir` does it.
    let held = argvault::os::path::name_under_proc(dir.as_fd());
    let output = Command::new("/bin/pwd").arg("-P").current_dir(held).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), tree.text("root/moved"));
}

#[test]
fn a_root_that_is_renamed_is_still_the_one_that_was_opened() {
    let tree = Tree::new();
    let root = tree.root();
    std::fs::rename(tree.path("root"), tree.path("old")).unwrap();
    std::fs::rename(tree.path("outside"), tree.path("root")).unwrap();
    let opened = ConfinedDir::open(&root, Some("deep"));
    assert!(opened.is_err(), "the new directory of that name was entered");
    symlink(tree.path("old/sub"), tree.path("old/abs")).unwrap();
    for cwd in ["sub/deep", "abs/deep", "../old/sub/deep"] {
        let dir = ConfinedDir::open(&root, Some(cwd)).unwrap();
        assert_eq!(dir.path(), tree.path("old/sub/deep"), "{cwd}");
    }
}

#[test]
fn a_cwd_or_root_without_search_permission_is_refused() {
    if !go_on("table::a_cwd_or_root_without_search_permission_is_refused") {
        return;
    }
    let tree = Tree::new();
    let locked = tree.path("root/sub");
    symlink(&locked, tree.path("root/abs")).unwrap();
    for mode in [0o000, 0o600] {
        set_mode(&locked, mode);
        for cwd in ["sub", "sub/deep", "sub/nothing", "abs", "abs/deep"] {
            let error = ConfinedDir::open(&tree.root(), Some(cwd)).unwrap_err();
            assert_eq!(variant(&error), "CwdPermission", "{cwd} {mode:o}: {error}");
            assert!(error.to_string().contains(locked.to_str().unwrap()), "{error}");
            check_wording(&error);
        }
        let error = WorkspaceRoot::open(locked.to_str().unwrap()).unwrap_err();
        assert_eq!(variant(&error), "RootPermission");
        check_wording(&error);
    }
    // As for `cd`, reading is not needed.
    set_mode(&locked, 0o100);
    ConfinedDir::open(&tree.root(), Some("sub")).unwrap();
    set_mode(&locked, 0o700);
    // Outside, a locked directory is as far away as any other.
    set_mode(&tree.path("outside"), 0o000);
    let error = ConfinedDir::open(&tree.root(), Some("../outside/deep")).unwrap_err();
    assert_eq!(variant(&error), "CwdOutsideRoot");
    set_mode(&tree.path("outside"), 0o700);
}
