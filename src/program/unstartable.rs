//! An allowed program that can't be started: the command settles as `start-failed`, in these words.

use std::path::{Path, PathBuf};

use crate::input::quoted;
use crate::sandbox::shown;

/// What was wanted, where it was found if it was, and why that can't be executed. Displays as the status's `error`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} could not be started: {why}. {}", quoted(name), why.recovery())]
pub struct Unstartable {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) why: Why,
}

impl Unstartable {
    /// The program as the policy and argv name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, for the status; `None` when a bare name was found nowhere.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The reason.
    pub fn why(&self) -> &Why {
        &self.why
    }
}

/// Why a file can't be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// A bare name that no directory of PATH holds.
    #[error("it was not found on PATH ({}){}", searched_words(searched), passed_over_words(passed_over.as_deref()))]
    NotOnPath {
        /// The absolute entries of the host's PATH, in order.
        searched: Vec<PathBuf>,
        /// The first that has the name but is no executable file.
        passed_over: Option<PathBuf>,
    },
    /// Nothing has that path.
    #[error("no such file: {}", shown(path))]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A part of the path before its end is no directory.
    #[error("{} leads through a file", shown(path))]
    ThroughAFile {
        /// The path.
        path: PathBuf,
    },
    /// A directory above it can't be searched.
    #[error("permission denied: this user may not search a directory above {}", shown(path))]
    Unreachable {
        /// The path.
        path: PathBuf,
    },
    /// Symbolic links without end, or one that only a process's own `/proc` entry gives meaning.
    #[error("{} leads through a loop of symbolic links or a magic link of /proc", shown(path))]
    LinkLoop {
        /// The path.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{} is a directory", shown(path))]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// It is a FIFO, a socket or a device.
    #[error("{} is {what}, not a regular file", shown(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// Its kind, with an article.
        what: &'static str,
    },
    /// No execute permission for this user.
    #[error("permission denied: {} is not executable for this user", shown(path))]
    NotExecutable {
        /// The path.
        path: PathBuf,
    },
    /// The file system is mounted with `noexec`.
    #[error("permission denied: {} lies on a file system that is mounted noexec", shown(path))]
    NoExecMount {
        /// The path.
        path: PathBuf,
    },
    /// No bytes.
    #[error("{} is empty", shown(path))]
    Empty {
        /// The path.
        path: PathBuf,
    },
    /// No `#!` and no format that this system runs.
    #[error("{} is neither a binary that this system knows nor a script with #!", shown(path))]
    UnknownFormat {
        /// The path.
        path: PathBuf,
    },
    /// An ELF file for another machine, and no handler for it.
    #[error("{} is a binary for another machine", shown(path))]
    OtherMachine {
        /// The path.
        path: PathBuf,
    },
    /// `#!` without a usable interpreter name in the 256 bytes that the kernel looks at.
    #[error("the #! line of {} names no interpreter", shown(path))]
    BadShebang {
        /// The path.
        path: PathBuf,
    },
    /// The interpreter of the `#!` line can't be executed.
    #[error("the interpreter {} named in the #! line of {} {problem}", shown(interpreter), shown(path))]
    Interpreter {
        /// The script.
        path: PathBuf,
        /// The interpreter, as the line names it.
        interpreter: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The dynamic loader that the binary asks for (`PT_INTERP`) can't be executed.
    #[error("the dynamic loader {} that the binary {} asks for {problem}", shown(loader), shown(path))]
    Loader {
        /// The binary.
        path: PathBuf,
        /// The loader.
        loader: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Anything else that the system said.
    #[error("{} can't be opened: {reason}", shown(path))]
    System {
        /// The path.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}

impl Why {
    /// What to do about it, as a sentence.
    pub fn recovery(&self) -> String {
        match self {
            Self::NotOnPath { .. } => {
                "Install it, or list it in allowedExecutables by its absolute path; the PATH that counts is the \
                host's when the policy was set."
                    .into()
            }
            Self::Missing { .. } | Self::ThroughAFile { .. } | Self::LinkLoop { .. } => {
                "Create the file, or allow and use the path where it is.".into()
            }
            Self::Unreachable { .. } => "Give this user search permission (x) on those directories.".into(),
            Self::Directory { .. } | Self::NotAFile { .. } => "Name an executable file.".into(),
            Self::NotExecutable { .. } => {
                "Give it execute permission (chmod +x), or run it through its interpreter.".into()
            }
            Self::NoExecMount { .. } => {
                "Put it on another file system, or run it through its interpreter.".into()
            }
            Self::Empty { .. } => "Write the program first.".into(),
            Self::UnknownFormat { .. } | Self::BadShebang { .. } => {
                "Begin a script with a line such as #!/bin/sh; nothing is ever handed to a shell.".into()
            }
            Self::OtherMachine { .. } => "Use a build for this machine.".into(),
            Self::Interpreter { interpreter, .. } => {
                if interpreter.to_string_lossy().ends_with('\r') {
                    "Save the script with Unix line ends: the carriage return counts as part of the name.".into()
                } else {
                    "Install the interpreter, or correct the #! line.".into()
                }
            }
            Self::Loader { .. } => "Use a build for this system's C library, or install that loader.".into(),
            Self::System { .. } => "Check the file and the file system it lies on.".into(),
        }
    }
}

fn passed_over_words(passed_over: Option<&Path>) -> String {
    passed_over.map(|path| format!("; {} is there but can't be executed", shown(path))).unwrap_or_default()
}

fn searched_words(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return "the host's PATH has no absolute entry".into();
    }
    let entries: Vec<_> = searched.iter().map(|dir| dir.to_string_lossy()).collect();
    format!("searched: {}", entries.join(", "))
}
