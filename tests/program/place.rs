//! A root, directories for PATH, and files in them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use argvault::program::{Located, ProgramError, ProgramTable, ResolvedProgram, Unstartable, WantedProgram};
use argvault::sandbox::{ConfinedDir, WorkspaceRoot};
use sha2::{Digest as _, Sha256};

use crate::unprivileged::set_mode;

pub(crate) const SCRIPT: &str = "#!/bin/sh\necho \"$0\"\n";

pub(crate) struct Place {
    _temp: tempfile::TempDir,
    pub(crate) base: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for dir in ["root/sub", "outside", "bin1", "bin2"] {
            std::fs::create_dir_all(base.join(dir)).unwrap();
        }
        Self { _temp: temp, base }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        set_mode(&path, mode);
        path
    }

    pub(crate) fn host_path(&self) -> String {
        format!(".::bin:{}:{}", self.text("bin1"), self.text("bin2"))
    }

    pub(crate) fn table(&self, name: &str, sha256: Option<[u8; 32]>) -> ProgramTable {
        ProgramTable::build(vec![WantedProgram { name: name.into(), sha256 }], Some(&self.host_path()))
    }

    pub(crate) fn locate_by(&self, table: &ProgramTable, cwd: &str) -> Result<Located, ProgramError> {
        let root = WorkspaceRoot::open(&self.text("root")).unwrap();
        let cwd = ConfinedDir::open(&root, Some(cwd)).unwrap();
        table.locate(0, &root, &cwd)
    }

    pub(crate) fn locate(&self, name: &str) -> Result<Located, ProgramError> {
        self.locate_by(&self.table(name, None), "sub")
    }

    pub(crate) fn pinned(&self, path: &Path, content: impl AsRef<[u8]>) -> Result<Located, ProgramError> {
        let digest: [u8; 32] = Sha256::digest(content).into();
        self.locate_by(&self.table(path.to_str().unwrap(), Some(digest)), "sub")
    }
}

pub(crate) fn found(located: Result<Located, ProgramError>) -> ResolvedProgram {
    match located {
        Ok(Located::Found(program)) => program,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn unstartable(located: Result<Located, ProgramError>) -> Unstartable {
    match located {
        Ok(Located::Unstartable(unstartable)) => unstartable,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").split([' ', '{']).next().unwrap().to_owned()
}

pub(crate) fn check_wording(error: &ProgramError) {
    for sentence in [error.to_string(), error.recovery()] {
        assert!(sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
    }
    assert!(error.details().as_object().is_some_and(|details| !details.is_empty()), "{error:?}");
}

/// Runs what a test wrote. A child that another test's thread is just starting may hold the file open for writing
/// still.
pub(crate) fn run(command: &mut Command) -> Output {
    let ceiling = Instant::now() + Duration::from_secs(10);
    loop {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < ceiling => {
                std::thread::sleep(Duration::from_millis(10));
            }
            settled => return settled.unwrap(),
        }
    }
}
