//! Every default and ceiling, once, with its unit. Nothing else in the package holds such a number:
//! JavaScript passes "absent" on, and schemas and messages are made from these.

/// Longest single argv or environment string in bytes, its NUL included: `MAX_ARG_STRLEN`, 32 pages (`execve(2)`).
pub const MAX_ARG_STRLEN: usize = 128 * 1024;
/// Bytes of argv and environment together. The kernel takes a quarter of the stack's soft limit, at most
/// three quarters of 8 MiB (`execve(2)`); with the usual 8 MiB stack that is 2 MiB.
pub const MAX_ARG_TOTAL: usize = 2 * 1024 * 1024;
/// What the kernel counts for each string beside its bytes: one pointer.
pub const ARG_POINTER: usize = std::mem::size_of::<usize>();

/// Bytes of `MAX_ARG_TOTAL` kept for what the kernel puts there by itself: the program's path, and for a script
/// its interpreter's line and its path once more.
pub const ARG_PATH_ROOM: usize = 3 * 4096;

/// Time budget of a command when neither it nor the policy says, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// Bytes kept of each stream when neither the command nor the policy says.
pub const DEFAULT_MAX_OUTPUT_BYTES: u64 = 10_485_760;
/// From SIGTERM to SIGKILL, in milliseconds.
pub const DEFAULT_KILL_GRACE_MS: u64 = 5_000;
/// What processes left behind by a program that ended by itself may still take, in milliseconds.
pub const DEFAULT_STRAY_GRACE_MS: u64 = 1_000;
/// How long `approve` and `allowlist` may take, in milliseconds.
pub const DEFAULT_APPROVAL_TIMEOUT_MS: u64 = 300_000;
/// Largest integer that JavaScript holds exactly, 2^53 - 1: the ceiling of every number taken.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Longest label in UTF-16 units; a longer one is cut.
pub const MAX_LABEL_UNITS: usize = 60;
/// Longest session id in UTF-16 units.
pub const MAX_SESSION_ID_UNITS: usize = 256;
/// Bytes for the program's standard input.
pub const MAX_INPUT_BYTES: usize = 64 * 1024 * 1024;

/// Most names, patterns or alternatives that a refusal lists.
pub const MAX_LISTED: usize = 12;
/// Longest command line, in bytes, that a refusal repeats word by word.
pub const MAX_EXAMPLE_LINE: usize = 120;
/// Most characters of an allowed executable's path that a refusal shows.
pub const MAX_PATH_SHOWN: usize = 300;

/// UTF-16 units of a text page when the caller doesn't say.
pub const DEFAULT_PAGE_UNITS: u64 = 50_000;
/// Most UTF-16 units of one text page.
pub const MAX_PAGE_UNITS: u64 = 200_000;
/// Lines of a line page when the caller doesn't say.
pub const DEFAULT_PAGE_LINES: u64 = 500;
/// Most lines of one line page.
pub const MAX_PAGE_LINES: u64 = 20_000;
/// Bytes from one entry of a stream's index to the next: what a page may have to skip.
pub const INDEX_STEP_BYTES: u64 = 128 * 1024;
/// Most UTF-16 units of a status's `tailPreview`.
pub const TAIL_PREVIEW_UNITS: usize = 2_000;
/// Most bytes that a synchronous status reads of the two streams together.
pub const STATUS_READ_BYTES: usize = 16 * 1024;
/// Most UTF-16 units of an artifact's `preview` when the caller doesn't say.
pub const DEFAULT_PREVIEW_UNITS: usize = 600;
/// Longest string V8 can hold, in UTF-16 units: 2^29 - 24.
pub const MAX_V8_STRING_UNITS: u64 = 536_870_888;

/// Matches of a search when the caller doesn't say.
pub const DEFAULT_SEARCH_MATCHES: u64 = 100;
/// Most matches of one search.
pub const MAX_SEARCH_MATCHES: u64 = 1_000;
/// Most lines of context on either side of a match.
pub const MAX_SEARCH_CONTEXT: u64 = 20;
/// Most UTF-16 units of one line in a search's result.
pub const MAX_SEARCH_LINE_UNITS: u64 = 2_000;
/// Most UTF-16 units of all lines in a search's result.
pub const MAX_SEARCH_UNITS: u64 = 200_000;
/// Longest search pattern in bytes.
pub const MAX_PATTERN_BYTES: usize = 8 * 1024;
/// Most bytes of a compiled pattern, and of the cache of states that a search builds from it.
pub const MAX_COMPILED_PATTERN_BYTES: usize = 4 * 1024 * 1024;
/// A longer line is searched in pieces of this many bytes: what bounds a search's memory.
pub const SEARCH_PIECE_BYTES: u64 = 256 * 1024;
/// How long a search goes on, in milliseconds: a large pattern that fits nothing costs its size at every byte.
pub const MAX_SEARCH_MS: u64 = 20_000;
/// Most bytes that a search's line buffer takes: the pieces of the largest context, twice over.
pub const SEARCH_HEAP_BYTES: usize = 16 * 1024 * 1024;

/// Most stray process names that a record lists.
pub const MAX_STRAY_NAMES: usize = 16;
/// Most processes that a record lists as unkillable.
pub const MAX_UNKILLABLE_LISTED: usize = 16;
/// How long a keeper goes on killing and reaping without reaching `ECHILD`, in milliseconds; then what is left
/// is named as unkillable.
pub const UNKILLABLE_AFTER_MS: u64 = 10_000;
/// Bytes reserved at the start for the record of the outcome, so that a full disk can't lose it.
pub const RECORD_RESERVED_BYTES: i64 = 8 * 1024;
/// Bytes of one read from a program's pipe, and of the write that follows it.
pub const CAPTURE_CHUNK: usize = 64 * 1024;
/// What a keeper that no longer keeps time gets beyond its budget and graces, in milliseconds.
pub const KEEPER_OVERDUE_MS: u64 = 2_000;
/// How long the host waits for a keeper's word that a start was made or failed, in milliseconds.
pub const START_REPLY_MS: u64 = 30_000;

/// How long the end of a confined command may wait for its temporary directory to be removed, in milliseconds.
pub const TMP_SWEEP_MS: u64 = 1_000;
/// How long its keeper goes on removing afterwards, when nobody waits any more, in milliseconds.
pub const TMP_SWEEP_AFTERWARDS_MS: u64 = 10_000;

/// Longest wait of a model's call, in milliseconds: MCP clients give up a request after 60 s.
pub const MAX_MODEL_WAIT_MS: u64 = 30_000;

/// Size at which an audit file is set aside and a new one begun.
pub const AUDIT_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Characters of argv that one audit line holds.
pub const AUDIT_ARGV_CHARS: usize = 4_000;
