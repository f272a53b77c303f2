//! What the keeper is told to enforce: real paths and plain choices, nothing left to look up.

use serde::{Deserialize, Serialize};

use super::confined::Confined;

/// Which sockets there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Net {
    /// All that the host may make.
    Host,
    /// None but pairs.
    None,
    /// Outgoing TCP to these ports, and pairs.
    ConnectTcp(Vec<u16>),
}

/// A file or a directory by its real path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path.
    pub path: String,
    /// A directory, with all below it.
    pub dir: bool,
}

impl Place {
    /// What is there now.
    pub(super) fn of(path: String) -> Self {
        Self { dir: std::fs::metadata(&path).is_ok_and(|found| found.is_dir()), path }
    }
}

/// Everything that one tree is held to. A list is restricted to its entries, `None` is not restricted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices, each enforced in another place")]
pub struct Rules {
    /// Files and directories that may be executed.
    pub execute: Option<Vec<Place>>,
    /// Files and directories that may be read.
    pub read: Option<Vec<Place>>,
    /// Files and directories that may be written.
    pub write: Option<Vec<Place>>,
    /// Modes, owners, times and attributes of files stay as they are: nothing but the temporary directory is written.
    pub attributes_kept: bool,
    /// Sockets.
    pub network: Net,
    /// Signals stay in the tree.
    pub own_signals: bool,
    /// The kernel's Landlock can tell device `ioctl`s apart.
    pub device_ioctls: bool,
    /// Make a Landlock domain.
    pub landlock: bool,
    /// Set seccomp filters.
    pub filter: bool,
    /// The task's folder has a temporary directory, to be removed at the end.
    pub remove_tmp: bool,
    /// For the record.
    pub confined: Confined,
}
