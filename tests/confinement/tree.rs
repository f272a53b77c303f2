//! A root, what lies beside it, and links between them.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use argvault::sandbox::{SandboxError, WorkspaceRoot};

pub(crate) struct Tree {
    _temp: tempfile::TempDir,
    pub(crate) base: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for dir in ["root/sub/deep", "outside/deep", "root-evil"] {
            std::fs::create_dir_all(base.join(dir)).unwrap();
        }
        symlink("root", base.join("alias")).unwrap();
        Self { _temp: temp, base }
    }

    pub(crate) fn with_links() -> Self {
        let tree = Self::new();
        let root = tree.path("root");
        std::fs::write(root.join("file"), "").unwrap();
        let outside = tree.path("outside");
        for (name, target) in [
            ("in", PathBuf::from("sub")),
            ("abs-in", root.join("sub")),
            ("chain", root.join("abs-in/deep")),
            ("back", PathBuf::from("../root/sub")),
            ("by-alias", tree.path("alias/sub")),
            ("to-file", root.join("file")),
            ("out", PathBuf::from("../outside")),
            ("abs-out", outside.clone()),
            ("out-missing", outside.join("nothing")),
            ("evil", PathBuf::from("../root-evil")),
            ("dangling", root.join("nothing")),
            ("loop", PathBuf::from("loop")),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        tree
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::open(&self.text("root")).unwrap()
    }
}

/// The variant's name.
pub(crate) fn variant(error: &SandboxError) -> String {
    format!("{error:?}").split([' ', '{']).next().unwrap().to_owned()
}

pub(crate) fn check_wording(error: &SandboxError) {
    for sentence in [error.to_string(), error.recovery()] {
        assert!(sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
    }
    assert!(error.details().as_object().is_some_and(|details| !details.is_empty()), "{error:?}");
}
