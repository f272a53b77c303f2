//! What can go wrong with the vault itself.

use std::io;

/// Why the vault can't serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The directory can't be made or opened.
    #[error("The vault at {path} can't be opened: {source}.")]
    Open {
        /// The directory.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The directory belongs to somebody else.
    #[error("The vault at {path} belongs to user {owner}, not to this one ({own}).")]
    Owner {
        /// The directory.
        path: String,
        /// Its owner.
        owner: u32,
        /// Who we are.
        own: u32,
    },
    /// Others may write into the directory.
    #[error("The vault at {path} may be written by others: its mode is {mode:o}.")]
    Mode {
        /// The directory.
        path: String,
        /// Its permission bits.
        mode: u32,
    },
    /// No directory was named, and no default can be told.
    #[error("There is no place for the vault: neither XDG_STATE_HOME nor HOME is set to an absolute path.")]
    NoPlace,
    /// The files of a task or artifact can't be made.
    #[error("Nothing new can be written to the vault at {path}: {source}.")]
    Create {
        /// The vault.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Something that is there can't be read.
    #[error("{name} can't be read from the vault: {source}.")]
    Read {
        /// The task or artifact.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// No such task.
    #[error("No background command \"{id}\".")]
    UnknownTask {
        /// What was asked for.
        id: String,
    },
    /// The vault has reached `maxVaultBytes`.
    #[error("The vault at {path} holds {bytes} bytes, and maxVaultBytes is {most}.")]
    Full {
        /// The vault.
        path: String,
        /// What it holds.
        bytes: u64,
        /// What it may hold.
        most: u64,
    },
    /// The kernel gives no word of changes.
    #[error("Changes in the vault can't be watched: {source}.")]
    Watch {
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// More text than a JavaScript string can hold.
    #[error("Artifact {id} has more than the {most} characters that a JavaScript string can hold.", most = crate::limits::MAX_V8_STRING_UNITS)]
    TooLarge {
        /// The artifact.
        id: String,
    },
}

impl VaultError {
    /// The disk is full, or a quota is used up.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Create { source, .. } => is_full(source),
            Self::Full { .. } => true,
            _ => false,
        }
    }

    /// Descriptors or memory ran out.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::Watch { .. } => true,
            Self::Create { source, .. } | Self::Read { source, .. } | Self::Open { source, .. } => {
                matches!(source.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM))
            }
            _ => false,
        }
    }

    /// What to do about it.
    pub fn recovery(&self) -> String {
        match self {
            Self::Full { .. } => {
                "Remove settled commands with cleanup({ olderThanMs }) or cleanup({ maxBytes }), or raise maxVaultBytes."
                    .into()
            }
            Self::Watch { .. } => {
                "Close followers, or raise fs.inotify.max_user_instances and fs.inotify.max_user_watches.".into()
            }
            _ if self.is_full() => "Make room on its disk, or remove settled commands with cleanup().".into(),
            _ if self.is_shortage() => {
                "Raise the limit of open files or memory, or wait until commands have settled.".into()
            }
            Self::Open { .. } | Self::NoPlace | Self::Create { .. } => {
                "Set vaultDir (or the variable ARGVAULT_VAULT) to a directory that this user may write."
                    .into()
            }
            Self::Owner { .. } => "Set vaultDir to a directory of this user.".into(),
            Self::Mode { path, .. } => {
                format!("Take the permission from others (chmod go-w {path}), or set vaultDir.")
            }
            Self::Read { .. } => "Check that the vault is intact and readable by this user.".into(),
            Self::UnknownTask { .. } => {
                "Use the taskId that startBackgroundCommand returned, on a host with the same vaultDir."
                    .into()
            }
            Self::TooLarge { .. } => {
                "Read it by page (readBackgroundCommandOutput) or by bytes (readArtifactBytes) instead."
                    .into()
            }
        }
    }
}

/// Whether an error says that there is no room.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}
