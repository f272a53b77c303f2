//! Text and bytes that are kept by themselves: a folder of the vault with `content` and `artifact.json`.
//!
//! The folder is made under a temporary name and renamed when it is whole, so that no reader ever sees a torn one.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd as _, AsRawFd as _};

use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use serde::{Deserialize, Serialize};

use super::error::VaultError;
use super::id::{ArtifactId, TaskId};
use super::layout;
use super::store::{Vault, existing, new_file, read_error, read_file};
use super::text::{self, Indexer};
use crate::limits;

/// What was banked.
pub const CONTENT: &str = "content";
/// What it is.
pub const ARTIFACT: &str = "artifact.json";
/// What the name of a folder begins with while it is being written.
pub(super) const BANKING: &str = ".bank-";

/// What an artifact is: `artifact.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactFile {
    /// Its id.
    pub artifact_id: String,
    /// What it was banked as.
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Bytes of its content.
    pub size_bytes: u64,
    /// When it was banked, in milliseconds since the epoch.
    pub created_at: u64,
}

/// The content on its way, counted and indexed as it passes.
struct Content {
    file: File,
    size: u64,
    counts: Indexer,
    index: Vec<u8>,
}

impl Content {
    fn new(file: File) -> Self {
        Self { file, size: 0, counts: Indexer::new(), index: text::header().to_vec() }
    }
}

impl Write for Content {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        let index = &mut self.index;
        self.counts.push(&bytes[..written], |entry| index.extend_from_slice(&entry.to_record()));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Vault {
    /// Keeps what `write` writes, as what `about` makes of its size. Gives that and what `write` gave.
    pub fn bank<T>(
        &self,
        id: &TaskId,
        about: impl FnOnce(u64) -> ArtifactFile,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
        sync: bool,
    ) -> Result<(ArtifactFile, T), VaultError> {
        let temporary = format!("{BANKING}{id}");
        self.write_artifact(id, &temporary, about, write, sync).map_err(|source| {
            let _ = std::fs::remove_dir_all(self.inside(&temporary));
            VaultError::Create { path: self.path.display().to_string(), source }
        })
    }

    fn write_artifact<T>(
        &self,
        id: &TaskId,
        temporary: &str,
        about: impl FnOnce(u64) -> ArtifactFile,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
        sync: bool,
    ) -> io::Result<(ArtifactFile, T)> {
        mkdirat(&self.dir, temporary, Mode::S_IRWXU)?;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let folder = openat(&self.dir, temporary, flags, Mode::empty())?;
        let finish = |file: &File| if sync { file.sync_all() } else { Ok(()) };

        let mut content = Content::new(new_file(&folder, CONTENT)?);
        let written = write(&mut content)?;
        finish(&content.file)?;
        if content.size >= limits::INDEX_STEP_BYTES {
            let mut index = new_file(&folder, &layout::index_name(CONTENT))?;
            index.write_all(&content.index)?;
            finish(&index)?;
        }
        let about = about(content.size);
        let mut file = new_file(&folder, ARTIFACT)?;
        file.write_all(&serde_json::to_vec(&about)?)?;
        finish(&file)?;
        if sync {
            nix::unistd::fsync(folder.as_fd())?;
        }
        renameat(&self.dir, temporary, &self.dir, id.as_str())?;
        if sync {
            nix::unistd::fsync(self.dir.as_fd())?;
        }
        Ok((about, written))
    }

    /// What an artifact is; `None` when there is none of that id.
    pub fn about(&self, id: &TaskId) -> Result<Option<ArtifactFile>, VaultError> {
        let bytes = match self.folder(id) {
            Ok(folder) => read_file(&folder, ARTIFACT),
            Err(VaultError::UnknownTask { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        match bytes {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(read_error(id.as_str(), error)),
        }
    }

    /// An artifact's bytes, open for reading; `None` when there is none of that id.
    pub fn artifact(&self, id: &ArtifactId) -> Result<Option<File>, VaultError> {
        let opened = match id {
            ArtifactId::Output(task, stream) => self.stream(task, *stream),
            ArtifactId::Banked(id) => self.folder(id).and_then(|folder| {
                existing(&folder, CONTENT).map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => VaultError::UnknownTask { id: id.to_string() },
                    _ => read_error(id.as_str(), error),
                })
            }),
        };
        match opened {
            Ok(file) => Ok(Some(file)),
            Err(VaultError::UnknownTask { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path of a name in the vault's directory, whatever the directory's own path names by now.
    pub(super) fn inside(&self, name: &str) -> std::path::PathBuf {
        std::path::PathBuf::from(format!("/proc/self/fd/{}/{name}", self.dir.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn about(id: &TaskId, size_bytes: u64) -> ArtifactFile {
        ArtifactFile {
            artifact_id: id.to_string(),
            kind: "note".into(),
            label: "a note".into(),
            session_id: None,
            size_bytes,
            created_at: 1,
        }
    }

    /// In pieces, as a writer that doesn't know the end would.
    fn bank(vault: &Vault, id: &TaskId, content: &[u8], sync: bool) -> Result<ArtifactFile, VaultError> {
        let write = |kept: &mut dyn Write| content.chunks(7_001).try_for_each(|piece| kept.write_all(piece));
        Ok(vault.bank(id, |size| about(id, size), write, sync)?.0)
    }

    #[test]
    fn what_was_banked_is_read_back_whole_and_an_unknown_id_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path()).unwrap();
        for content in [b"".to_vec(), b"\xFF\0x".to_vec(), vec![b'x'; 300_000]] {
            let id = TaskId::new().unwrap();
            bank(&vault, &id, &content, true).unwrap();
            let mut read = Vec::new();
            vault.artifact(&ArtifactId::Banked(id)).unwrap().unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, content);
            assert_eq!(vault.about(&id).unwrap(), Some(about(&id, content.len() as u64)));
            assert_eq!(vault.index(&id, CONTENT).is_some(), content.len() > 200_000);
            assert!(matches!(vault.command(&id), Err(VaultError::UnknownTask { .. })));
        }
        let unknown = TaskId::new().unwrap();
        assert!(vault.artifact(&ArtifactId::Banked(unknown)).unwrap().is_none());
        assert_eq!(vault.about(&unknown).unwrap(), None);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path()).unwrap();
        let id = TaskId::new().unwrap();
        std::fs::create_dir(dir.path().join(id.as_str())).unwrap();
        std::fs::write(dir.path().join(id.as_str()).join("taken"), "").unwrap();
        assert!(matches!(bank(&vault, &id, b"x", false), Err(VaultError::Create { .. })));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
