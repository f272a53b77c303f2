//! One run of git: argv, environment, place and bounds. The environment and the settings are the same for every
//! call, so nothing of the host's environment, the user's or the repository's configuration has a say.

use std::path::{Path, PathBuf};

use super::shadow::Shadow;
use crate::limits;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Prepares: its output is fed back in memory.
    Resolve,
    /// Answers: its output is kept, and rendered by [`Answer::render`](super::Answer::render).
    Main,
}

/// A run of git for the host to carry out: standard input is `/dev/null`, the environment is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program, absolute, and its arguments.
    pub argv: Vec<String>,
    /// `NAME=value`; nothing is inherited.
    pub env: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its time budget.
    pub timeout_ms: u64,
    /// Bytes of standard output that are kept; one more ends it.
    pub max_output_bytes: u64,
    /// What it is for.
    pub purpose: Purpose,
    /// Directories that it reads, beside the system's own: for the kernel's confinement, where there is one.
    pub reads: Vec<PathBuf>,
    /// Directories that it may write: the shadow, nothing of the repository.
    pub writes: Vec<PathBuf>,
}

/// Whether the working tree may be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Objects, references and the index only: runs bare inside the shadow, so that no `.gitattributes`, `.mailmap`
    /// or link of the checkout is ever opened.
    History,
    /// Compares with the checkout.
    WorkTree,
}

/// Settings of the command scope, which win over every file. The shadow's configuration has none of what they
/// switch off: they are the second lock on the same door, and they reach child processes too.
const SETTINGS: [(&str, &str); 39] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    // Files that the repository may have forged, or that name others.
    ("core.commitGraph", "false"),
    ("core.multiPackIndex", "false"),
    ("core.untrackedCache", "false"),
    // Names stay readable; control characters are quoted all the same.
    ("core.quotePath", "false"),
    ("core.bigFileThreshold", "8m"),
    ("core.pager", "cat"),
    ("core.sshCommand", "/bin/false"),
    ("core.askPass", "/bin/false"),
    ("diff.external", ""),
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.orderFile", "/dev/null"),
    ("diff.renameLimit", "400"),
    ("submodule.recurse", "false"),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("mailmap.file", ""),
    ("mailmap.blob", ""),
    ("gpg.program", "/bin/false"),
    ("gpg.openpgp.program", "/bin/false"),
    ("gpg.x509.program", "/bin/false"),
    ("gpg.ssh.program", "/bin/false"),
    ("format.pretty", "medium"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("notes.displayRef", ""),
    ("blame.coloring", "none"),
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("protocol.allow", "never"),
    ("credential.helper", ""),
    ("safe.bareRepository", "explicit"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("status.submoduleSummary", "false"),
    ("grep.threads", "1"),
];

/// Flags before the subcommand, without the places.
const GLOBALS: [&str; 4] =
    ["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"];

/// The tree that has nothing in it, as a source of attributes. git before 2.43 takes no notice.
const EMPTY_TREE_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Where and with what git runs for one repository.
#[derive(Debug, Clone)]
pub(crate) struct Bench {
    pub(crate) program: String,
    pub(crate) root: PathBuf,
    pub(crate) timeout_ms: u64,
    pub(crate) max_output_bytes: u64,
}

impl Bench {
    /// A run that touches no repository.
    pub(crate) fn apart(&self, arguments: &[&str], home: &Path, most: u64) -> Invocation {
        let argv = std::iter::once(self.program.as_str()).chain(arguments.iter().copied());
        Invocation {
            argv: argv.map(str::to_owned).collect(),
            // An unusable git directory ends git's search for one.
            env: self.environment(home, &[("GIT_DIR", "/dev/null")], &[]),
            cwd: home.to_path_buf(),
            timeout_ms: self.timeout_ms.min(limits::GIT_RESOLVE_TIMEOUT_MS),
            max_output_bytes: most,
            purpose: Purpose::Resolve,
            // The copied configuration lies beside the home.
            reads: home.parent().map(Path::to_path_buf).into_iter().collect(),
            writes: Vec::new(),
        }
    }

    /// A run on the shadow.
    pub(crate) fn on(
        &self,
        shadow: &Shadow,
        mode: Mode,
        purpose: Purpose,
        arguments: Vec<String>,
    ) -> Invocation {
        let mut argv = vec![self.program.clone()];
        argv.extend(GLOBALS.iter().map(|flag| (*flag).to_owned()));
        argv.push(format!("--git-dir={}", shadow.git_dir().display()));
        let mut settings = Vec::new();
        let mut besides = Vec::new();
        let cwd = match mode {
            Mode::History => {
                settings.push(("core.bare", "true"));
                besides.push(("GIT_IMPLICIT_WORK_TREE", "0"));
                shadow.git_dir()
            }
            Mode::WorkTree => {
                argv.push(format!("--work-tree={}", self.root.display()));
                self.root.clone()
            }
        };
        let nothing = if shadow.is_sha256() { EMPTY_TREE_SHA256 } else { EMPTY_TREE_SHA1 };
        settings.push(("attr.tree", nothing));
        argv.extend(arguments);
        let (timeout_ms, max_output_bytes) = match purpose {
            Purpose::Main => (self.timeout_ms, self.max_output_bytes),
            Purpose::Resolve => {
                (self.timeout_ms.min(limits::GIT_RESOLVE_TIMEOUT_MS), limits::GIT_RESOLVE_OUTPUT_BYTES)
            }
        };
        let env = self.environment(&shadow.home(), &besides, &settings);
        let layout = shadow.print().layout();
        let mut reads = vec![shadow.place().to_path_buf(), layout.git_dir.clone(), layout.common_dir.clone()];
        reads.extend(layout.alternates.iter().cloned());
        if mode == Mode::WorkTree {
            reads.push(self.root.clone());
        }
        let writes = vec![shadow.place().to_path_buf()];
        Invocation { argv, env, cwd, timeout_ms, max_output_bytes, purpose, reads, writes }
    }

    fn environment(&self, home: &Path, besides: &[(&str, &str)], settings: &[(&str, &str)]) -> Vec<String> {
        let beside = Path::new(&self.program).parent().unwrap_or(Path::new("/usr/bin"));
        let above = self.root.parent().unwrap_or(Path::new("/"));
        let mut env = vec![
            format!("PATH={}:/usr/bin:/bin", beside.display()),
            format!("HOME={}", home.display()),
            format!("XDG_CONFIG_HOME={}", home.display()),
            format!("GIT_CEILING_DIRECTORIES={}", above.display()),
        ];
        env.extend(
            [
                "LC_ALL=C.UTF-8",
                "TZ=UTC",
                "GIT_CONFIG_NOSYSTEM=1",
                "GIT_CONFIG_SYSTEM=/dev/null",
                "GIT_CONFIG_GLOBAL=/dev/null",
                "GIT_ATTR_NOSYSTEM=1",
                "GIT_NO_LAZY_FETCH=1",
                "GIT_ALLOW_PROTOCOL=none",
                "GIT_PROTOCOL_FROM_USER=0",
                "GIT_TERMINAL_PROMPT=0",
                "GIT_ASKPASS=/bin/false",
                "SSH_ASKPASS=/bin/false",
                "GIT_SSH_COMMAND=/bin/false",
                "GIT_OPTIONAL_LOCKS=0",
                "GIT_NO_REPLACE_OBJECTS=1",
                "GIT_LITERAL_PATHSPECS=1",
                "GIT_PAGER=cat",
                "GIT_EDITOR=/bin/false",
                "GIT_ADVICE=0",
            ]
            .map(str::to_owned),
        );
        env.extend(besides.iter().map(|(name, value)| format!("{name}={value}")));
        let all = SETTINGS.iter().chain(settings);
        let mut count = 0;
        for (at, (key, value)) in all.enumerate() {
            env.push(format!("GIT_CONFIG_KEY_{at}={key}"));
            env.push(format!("GIT_CONFIG_VALUE_{at}={value}"));
            count = at + 1;
        }
        env.push(format!("GIT_CONFIG_COUNT={count}"));
        env
    }
}
