//! The programs of one policy.

use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;

use super::closure::Closure;
use super::error::ProgramError;
use super::examine::{Candidate, Rejected};
use super::identity::ResolvedProgram;
use super::search::{SearchPath, is_executable_file};
use super::unstartable::{Unstartable, Why};
use crate::os::path::{self, Kind, Reach};
use crate::sandbox::{ConfinedDir, FileStopped, WorkspaceRoot, open_file_beneath};

/// One entry of `allowedExecutables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedProgram {
    /// As written.
    pub name: String,
    /// The digest it must have.
    pub sha256: Option<[u8; 32]>,
}

/// What a policy's names stand for: made when the policy is set, immutable from then on.
#[derive(Debug)]
pub struct ProgramTable {
    entries: Vec<Entry>,
    host_path: SearchPath,
}

#[derive(Debug)]
struct Entry {
    wanted: WantedProgram,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A name alone, with the file it stood for when the policy was set.
    Bare { found: Option<PathBuf> },
    /// From the command's working directory.
    Relative,
    /// As it is.
    Absolute,
}

/// What a name led to.
#[derive(Debug)]
pub enum Located {
    /// A file that can be started.
    Found(ResolvedProgram),
    /// Nothing that can: the command is settled as `start-failed`.
    Unstartable(Unstartable),
}

impl ProgramTable {
    /// Resolves the bare names on the host's PATH. What is missing is remembered as missing.
    pub fn build(wanted: Vec<WantedProgram>, host_path: Option<&str>) -> Self {
        let host_path = SearchPath::of(host_path);
        let entries = wanted
            .into_iter()
            .map(|wanted| {
                let name = Path::new(&wanted.name);
                let way = if name.is_absolute() {
                    Way::Absolute
                } else if wanted.name.contains('/') {
                    Way::Relative
                } else {
                    Way::Bare { found: host_path.find(&wanted.name).ok() }
                };
                Entry { wanted, way }
            })
            .collect();
        Self { entries, host_path }
    }

    /// The path that entry `index` stands for so far, for warnings when a policy is set: `None` for a bare name
    /// that was not found then, and for one that depends on the working directory.
    pub fn path_when_set(&self, index: usize) -> Option<&Path> {
        self.entries.get(index).and_then(|entry| match &entry.way {
            Way::Bare { found } => found.as_deref(),
            Way::Relative => None,
            Way::Absolute => Some(Path::new(&entry.wanted.name)),
        })
    }

    /// What has to be executable for all entries whose place is known, and for `more`: names on the host's PATH or
    /// absolute paths.
    pub fn closure<'n>(&self, all: bool, more: impl IntoIterator<Item = &'n str>) -> Closure {
        let mut closure = Closure::default();
        if all {
            for index in 0..self.entries.len() {
                if let Some(path) = self.path_when_set(index) {
                    closure.add(path, &self.host_path);
                }
            }
        }
        for name in more {
            if name.starts_with('/') {
                closure.add(Path::new(name), &self.host_path);
            } else if let Ok(path) = self.host_path.find(name) {
                closure.add(&path, &self.host_path);
            }
        }
        closure
    }

    /// Finds and checks the file for entry `index`, for a command that will run in `cwd`.
    ///
    /// A bare name stands for the file it stood for when the policy was set, as long as that can be executed.
    /// Otherwise it is looked for again on the same PATH, for this start alone.
    pub fn locate(
        &self,
        index: usize,
        root: &WorkspaceRoot,
        cwd: &ConfinedDir,
    ) -> Result<Located, ProgramError> {
        let Some(entry) = self.entries.get(index) else { return Err(ProgramError::NoSuchEntry { index }) };
        let name = entry.wanted.name.as_str();
        let path = match &entry.way {
            Way::Absolute => PathBuf::from(name),
            // Collected from its components, the path loses "./" but keeps "..", which may cross a link.
            Way::Relative => cwd.path().join(name).components().collect(),
            Way::Bare { found } => match self.bare(name, found.as_deref()) {
                Ok(path) => path,
                Err(why) => return Ok(unstartable(name, None, why)),
            },
        };
        let candidate = Candidate { name, path: path.clone(), pin: entry.wanted.sha256, cwd };
        let place = match entry.way {
            Way::Relative => match open_file_beneath(root, cwd, Path::new(name)) {
                Ok(file) => Ok(file.into_parts().0),
                Err(FileStopped::Outside { resolved }) => {
                    let root = root.path().to_owned();
                    return Err(ProgramError::OutsideRoot { name: name.into(), resolved, root });
                }
                Err(FileStopped::Failed { errno, .. }) => Err(errno),
                Err(FileStopped::NoProc { errno }) => {
                    let (needs, reason) = ("/proc".into(), errno.desc().into());
                    return Err(ProgramError::Platform { name: name.into(), needs, reason });
                }
            },
            Way::Bare { .. } | Way::Absolute => path::open_place(AT_FDCWD, &path, Kind::Any, Reach::Anywhere),
        };
        let examined = match place {
            Ok(place) => candidate.examine(place),
            Err(errno) => Err(candidate.not_opened(errno)),
        };
        match examined {
            Ok(program) => Ok(Located::Found(program)),
            Err(Rejected::Refused(error)) => Err(error),
            Err(Rejected::Unstartable(why)) => Ok(unstartable(name, Some(path), why)),
        }
    }

    fn bare(&self, name: &str, found: Option<&Path>) -> Result<PathBuf, Why> {
        match found {
            Some(path) if is_executable_file(path) => Ok(path.to_owned()),
            _ => self.host_path.find(name).map_err(|missed| Why::NotOnPath {
                searched: self.host_path.dirs().to_owned(),
                passed_over: missed.passed_over,
            }),
        }
    }
}

fn unstartable(name: &str, path: Option<PathBuf>, why: Why) -> Located {
    Located::Unstartable(Unstartable { name: name.into(), path, why })
}
