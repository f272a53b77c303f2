//! The messages between host, warden and keeper: length-prefixed JSON on stream sockets.
//!
//! A start is two sends from the host. The first, to the warden, is small and carries the command's own socket, the
//! task's folder and its reserved record; the warden forks a keeper on them. The second goes down the command's own
//! socket and carries the specification with the remaining descriptors, so that a large one can hold up nobody else.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;

use crate::confinement::Rules;
use crate::program::FileIdentity;
use crate::vault::record::{Cause, MainExit, Outcome};

/// Both ends must be of one version of the package. The words make it findable in the binary.
pub const VERSION: &str = concat!("argvault warden ", env!("CARGO_PKG_VERSION"));

/// Largest message taken: a specification with the largest argv and environment, every byte of them escaped.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Host to warden: fork a keeper. Descriptors: the keeper's socket, the task's folder, the reserved record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launch {
    /// [`VERSION`] of the host.
    pub version: String,
    /// After how many milliseconds a keeper that still lives no longer keeps time.
    pub overdue_ms: u64,
    /// fsync what is written.
    pub sync: bool,
    /// What the commands to come are likely to be confined to, where that has changed: the warden prepares for it. No
    /// promise; what each one is confined to is in its specification.
    pub ahead: Option<Forecast>,
}

/// Most bytes of an encoded [`Launch`].
pub const MAX_LAUNCH: usize = 8 * 1024;

/// What commands to come are likely to be confined to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forecast {
    /// Nothing, or nothing that is worth preparing for.
    Free,
    /// These rules, without a temporary directory.
    Confined(Box<Rules>),
}

/// How the program is exec'd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecBy {
    /// By this path.
    Path(String),
    /// By the descriptor that comes last in the message; the path is for people.
    Descriptor(String),
    /// By this path, while the descriptor that comes last in the message is compared with it right before and right
    /// after the exec: a pinned script keeps its `$0`.
    Checked {
        /// The path.
        path: String,
        /// The file's state when the host looked.
        identity: FileIdentity,
        /// The digest that it has to have.
        sha256: [u8; 32],
    },
}

impl ExecBy {
    /// The file, for people.
    pub fn path(&self) -> &str {
        match self {
            Self::Path(path) | Self::Descriptor(path) | Self::Checked { path, .. } => path,
        }
    }

    /// Whether the program's descriptor comes along.
    pub fn has_descriptor(&self) -> bool {
        !matches!(self, Self::Path(_))
    }
}

/// Limits for the program. Absent ones stay as the host has them; no core file is written in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// `RLIMIT_CPU`, seconds, for each process.
    pub cpu_seconds: Option<u64>,
    /// `RLIMIT_AS`, bytes, for each process.
    pub address_space_bytes: Option<u64>,
    /// `memory.max` of the leaf, bytes, for the tree.
    pub memory_bytes: Option<u64>,
    /// `pids.max` of the leaf, else `RLIMIT_NPROC`.
    pub processes: Option<u64>,
    /// `RLIMIT_NOFILE`.
    pub open_files: Option<u64>,
    /// `RLIMIT_FSIZE`, bytes.
    pub file_size_bytes: Option<u64>,
}

/// Host to keeper: everything about one command. Descriptors: standard input if [`Specification::has_input`],
/// standard output's file, standard error's file, the working directory, the program if
/// [`ExecBy::has_descriptor`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Specification {
    /// The task, for names that people see.
    pub task_id: String,
    /// argv, not empty.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<String>,
    /// What is exec'd.
    pub exec: ExecBy,
    /// Time budget, milliseconds.
    pub timeout_ms: u64,
    /// From SIGTERM to SIGKILL, milliseconds.
    pub kill_grace_ms: u64,
    /// What strays may take, milliseconds.
    pub stray_grace_ms: u64,
    /// Bytes kept of each stream.
    pub max_output_bytes: u64,
    /// Bytes kept of both together.
    pub max_total_output_bytes: Option<u64>,
    /// A descriptor for standard input comes first.
    pub has_input: bool,
    /// The program's limits.
    pub limits: Limits,
    /// What the tree is confined to.
    pub confinement: Option<Rules>,
}

/// Host, or any other host on the vault, to keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// End the tree: `signal` first, SIGKILL after the grace.
    End {
        /// A signal number.
        signal: i32,
        /// On whose account.
        cause: Cause,
    },
}

/// Keeper, or the warden in its place, to host.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    /// The program runs.
    Started,
    /// The main process has ended; others of its tree may live.
    MainEnded(MainExit),
    /// All is over. `stored` is false when the record could not be written: then this message is all there is.
    Settled {
        /// The outcome.
        outcome: Box<Outcome>,
        /// Whether `record.json` has it.
        stored: bool,
    },
    /// Nothing ran, and nothing was recorded.
    Refused(Refused),
}

/// Why warden or keeper would not start anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// The warden is of another version.
    Version {
        /// The warden's.
        warden: String,
    },
    /// Descriptors, processes or memory ran out.
    Resources {
        /// What was being done.
        doing: String,
        /// The error number.
        errno: i32,
    },
    /// The confinement could not be made or entered.
    Unconfined(String),
    /// The program's file is not what it was when the host looked.
    Changed(String),
    /// A message was not understood, or a system facility failed in a way that should not be.
    Fault(String),
}

/// `message` with its length before it.
pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Bytes as they came, until they make a message.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Adds what was received.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if it is there.
    pub fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((prefix, rest)) = self.bytes.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > MAX_MESSAGE {
            return Err(io::Error::other(format!("a message of {length} bytes")));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(body)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }

    /// Whether a message has begun and not ended.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_any_cut() {
        let order = Order::End { signal: 15, cause: Cause::Kill };
        let bytes = [encode(&order).unwrap(), encode(&order).unwrap()].concat();
        for cut in 0..bytes.len() {
            let mut inbox = Inbox::default();
            let mut seen = 0;
            for part in [&bytes[..cut], &bytes[cut..]] {
                inbox.push(part);
                while let Some(message) = inbox.take::<Order>().unwrap() {
                    assert_eq!(message, order);
                    seen += 1;
                }
            }
            assert_eq!((seen, inbox.is_empty()), (2, true), "cut at {cut}");
        }
    }

    #[test]
    fn a_length_beyond_all_reason_is_an_error_and_no_allocation() {
        let mut inbox = Inbox::default();
        inbox.push(&u32::MAX.to_le_bytes());
        assert!(inbox.take::<Order>().is_err());
    }
}
