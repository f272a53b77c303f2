//! Executable resolution and pinning: which file an allowed name stands for, and whether it can be started at all.
//!
//! * A bare name is looked up on the host's own PATH when the policy is set, in its absolute entries alone. Never
//!   on the command's PATH, never in its working directory.
//! * A relative name with a slash is looked for from the command's working directory. One that leads outside the
//!   root is refused ([`ProgramError::OutsideRoot`]): an entry that moves with the directory can only have meant a
//!   file of the workspace.
//! * An absolute name is taken as written, links and all, and is executed by that name, so that a program which
//!   looks at its own name sees what the policy says.
//! * A pin (`sha256`) is compared with the digest of the descriptor that is then executed.
//!
//! What can be known before a process exists is found here, one [`Why`] for each: the kernel's own errors
//! (`execve(2)`: `ENOENT` for a missing interpreter, `EACCES` for a directory) don't say which file they mean.
//! Nothing is ever handed to a shell, as `execvp(3)` does on `ENOEXEC`.
//!
//! What remains open, and is not promised:
//!
//! * Without a pin, a name is not a file. Identity is compared right before the start
//!   ([`ResolvedProgram::verify`]), so a file that was replaced while a human thought is noticed; one that is
//!   replaced between that look and `execve(2)` runs. The same goes for a relative entry's stay inside the root. A
//!   rewrite in place within one tick of the file system's clock that keeps the size is not seen either.
//! * A pinned binary is executed by its descriptor: no other file can take its place. Its bytes can still be
//!   rewritten in place between the digest and the `execve(2)`; from then on most kernel versions refuse writers
//!   (`ETXTBSY`).
//! * A pinned script is executed by its path, since by descriptor it would see `/dev/fd/N` as its `$0`. The kernel
//!   and then the interpreter open it by that path: a file swapped in after the check and out before the second one
//!   runs unseen. Only whoever may write to its directory can do that: keep pinned scripts where commands can't
//!   write.
//! * A pin covers the one file. Not its interpreter, its libraries, or what it reads and runs.

mod closure;
mod error;
mod examine;
mod format;
mod identity;
mod search;
mod table;
mod unstartable;

pub use closure::Closure;
pub use error::ProgramError;
pub use identity::{ExecBy, FileIdentity, ProgramFacts, ProgramKind, ResolvedProgram};
pub use table::{Located, ProgramTable, WantedProgram};
pub use unstartable::{Unstartable, Why};
