//! What outlives a question: the options, the shadow, and what was learnt of git and of the repository's directories.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::GitError;
use super::executable;
use super::files::Stamp;
use super::options::GitOptions;
use super::preflight::Layout;
use super::request::GitRequest;
use super::session::Session;
use super::shadow::{self, Print, Scratch, Shadow};
use super::tree_check::TreeCheck;
use crate::input::Value;

/// The git tools of one repository.
#[derive(Debug, Clone)]
pub struct Toolbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: GitOptions,
    scratch_parent: PathBuf,
    path: OsString,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    checked: TreeCheck,
    shadow: Option<Arc<Shadow>>,
    version: Option<(PathBuf, Stamp, (u32, u32, u32))>,
    swept: bool,
}

impl Toolbox {
    /// Tools for the repository of `options`. Shadows are made below `scratch_parent`, an existing directory outside
    /// of the repository; git is looked for on `path`, the host's PATH. Nothing is touched yet.
    pub fn new(options: GitOptions, scratch_parent: PathBuf, path: OsString) -> Self {
        Self { shared: Arc::new(Shared { options, scratch_parent, path, state: Mutex::default() }) }
    }

    /// The options.
    pub fn options(&self) -> &GitOptions {
        &self.shared.options
    }

    /// A model's question: the name of a tool and its parameters.
    pub fn ask(&self, tool: &str, params: &Value) -> Result<Session, GitError> {
        Ok(self.session(GitRequest::parse(tool, params, &self.shared.options.extra)?))
    }

    /// The host's own `runGitCommand`.
    pub fn command(&self, args: &Value) -> Result<Session, GitError> {
        Ok(self.session(GitRequest::command(args)?))
    }

    /// A checked request.
    pub fn session(&self, request: GitRequest) -> Session {
        Session::new(Arc::clone(&self.shared), request.into_tool())
    }

    /// Gives the kept shadow up. Questions under way keep theirs until they are answered.
    pub fn dispose(&self) {
        self.shared.state().shadow = None;
    }
}

impl Shared {
    /// What is kept is a cache that is checked before each use, so a panic elsewhere does it no harm.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn program(&self) -> Result<PathBuf, GitError> {
        executable::find(&self.options, &self.path)
    }

    pub(crate) fn inspect(&self) -> Result<Layout, GitError> {
        let mut state = self.state();
        let layout = Layout::inspect(&self.options, &mut state.checked);
        if layout.is_err() {
            state.checked.reset();
        }
        layout
    }

    /// The version of this very file, if it was asked before.
    pub(crate) fn version(&self, program: &Path) -> Option<(u32, u32, u32)> {
        let stamp = Stamp::of(&program.metadata().ok()?);
        let state = self.state();
        let (known, at, version) = state.version.as_ref()?;
        (known == program && *at == stamp).then_some(*version)
    }

    pub(crate) fn learn_version(&self, program: &Path, version: (u32, u32, u32)) -> Result<(), GitError> {
        let meta = program.metadata().map_err(|error| GitError::io(program, error))?;
        self.state().version = Some((program.to_path_buf(), Stamp::of(&meta), version));
        Ok(())
    }

    pub(crate) fn scratch(&self, root: &Path) -> Result<Scratch, GitError> {
        if !std::mem::replace(&mut self.state().swept, true) {
            shadow::sweep(&self.scratch_parent);
        }
        Scratch::new(&self.scratch_parent, root)
    }

    pub(crate) fn shadow_for(&self, print: &Print) -> Option<Arc<Shadow>> {
        let state = self.state();
        state.shadow.as_ref().filter(|shadow| print.is_served_by(shadow.print())).cloned()
    }

    /// Keeps `shadow` for later questions. The one before goes with its last user.
    pub(crate) fn keep_shadow(&self, shadow: &Arc<Shadow>) {
        let before = self.state().shadow.replace(Arc::clone(shadow));
        drop(before);
    }
}
