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

/// A file or a directory by its real path. Written as the path, with a slash behind a directory's: there are some thirty
/// of them in every specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
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

impl From<String> for Place {
    fn from(mut text: String) -> Self {
        let dir = text.ends_with('/');
        if dir && text.len() > 1 {
            text.pop();
        }
        Self { path: text, dir }
    }
}

impl From<Place> for String {
    fn from(Place { mut path, dir }: Place) -> Self {
        if dir && path != "/" {
            path.push('/');
        }
        path
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
    /// A directory made for this tree alone, which it may read and write.
    pub tmp: Option<String>,
    /// That directory is in the task's folder, and is to be removed at the end.
    pub remove_tmp: bool,
    /// For the record.
    pub confined: Confined,
}

impl Rules {
    /// Lets the tree use `path`, a directory made for it alone.
    pub fn add_tmp(&mut self, path: &str, remove: bool) {
        self.tmp = Some(path.to_owned());
        self.remove_tmp = remove;
    }

    /// What is the same for one command after the other.
    #[must_use]
    pub fn without_tmp(&self) -> Self {
        Self { tmp: None, remove_tmp: false, ..self.clone() }
    }

    /// Whether a tree that is held to the one is held to the other, but for the temporary directory.
    pub fn hold_as(&self, other: &Self) -> bool {
        // Taken apart, so that a field that comes along isn't forgotten here.
        let Self {
            execute,
            read,
            write,
            attributes_kept,
            network,
            own_signals,
            device_ioctls,
            landlock,
            filter,
            tmp: _,
            remove_tmp: _,
            confined: _,
        } = self;
        let choices = (*attributes_kept, *own_signals, *device_ioctls, *landlock, *filter);
        choices
            == (other.attributes_kept, other.own_signals, other.device_ioctls, other.landlock, other.filter)
            && *network == other.network
            && (execute, read, write) == (&other.execute, &other.read, &other.write)
    }
}

#[cfg(test)]
impl Rules {
    /// No list of anything: what a test starts from.
    pub(crate) fn of_nothing() -> Self {
        let off = super::Enforcement::NotRequested;
        let confined = Confined {
            level: "required".into(),
            execute: off,
            read: off,
            write: off,
            network: off,
            signals: off,
            syscalls: off,
            executables: None,
        };
        Self {
            execute: None,
            read: None,
            write: None,
            attributes_kept: false,
            network: Net::None,
            own_signals: true,
            device_ioctls: true,
            landlock: true,
            filter: true,
            tmp: None,
            remove_tmp: false,
            confined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_itself_again_after_it_was_written() {
        for (path, dir) in [("/", true), ("/etc/passwd", false), ("/usr", true), ("/a b\"\u{e9}", true)] {
            let place = Place { path: path.into(), dir };
            let text = serde_json::to_string(&place).unwrap();
            assert_eq!(serde_json::from_str::<Place>(&text).unwrap(), place, "{text}");
        }
    }
}
