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
/// How often a host with live commands lets a warden go on that somebody may have stopped, in milliseconds.
pub const WARDEN_WAKE_MS: u64 = 1_000;
/// How long a warden's end may take from the closing of its first descriptor to that of its last, in milliseconds.
pub const WARDEN_ENDING_MS: u64 = 200;
/// How long the lock of a command may outlast its keeper and its warden, in milliseconds.
pub const LOCK_RELEASE_MS: u64 = 1_000;
/// How long the host waits for a keeper's word that a start was made or failed, in milliseconds.
pub const START_REPLY_MS: u64 = 30_000;

/// How long the end of a confined command may wait for its temporary directory to be removed, in milliseconds.
pub const TMP_SWEEP_MS: u64 = 1_000;
/// How long its keeper goes on removing afterwards, when nobody waits any more, in milliseconds.
pub const TMP_SWEEP_AFTERWARDS_MS: u64 = 10_000;
/// How long `cleanup` works on one task's folder, in milliseconds; the next one goes on.
pub const CLEANUP_SWEEP_MS: u64 = 30_000;

/// Longest wait of a model's call, in milliseconds: MCP clients give up a request after 60 s.
pub const MAX_MODEL_WAIT_MS: u64 = 30_000;
/// How long the outcome of a decision that no call was waiting for is kept for the next one, in milliseconds.
pub const DECISION_KEPT_MS: u64 = 600_000;

/// Size at which an audit file is set aside and a new one begun.
pub const AUDIT_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Characters of argv that one audit line holds.
pub const AUDIT_ARGV_CHARS: usize = 4_000;

/// Time budget of a git call when the host doesn't say, in milliseconds.
pub const GIT_DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// Bytes kept of a git answer when the host doesn't say.
pub const GIT_DEFAULT_MAX_OUTPUT_BYTES: u64 = 33_554_432;
/// UTF-16 units of a git answer's `preview` when the host doesn't say.
pub const GIT_DEFAULT_PREVIEW_UNITS: u64 = 2_000;
/// Most UTF-16 units of a git answer's `preview`, its elision mark not counted.
pub const GIT_MAX_PREVIEW_UNITS: u64 = 4_000;
/// Commits of a `git_log` when the model doesn't say.
pub const GIT_DEFAULT_MAX_COUNT: u64 = 20;
/// Most commits of one `git_log`.
pub const GIT_MAX_COUNT: u64 = 500;
/// Lines of context around a change when the model doesn't say.
pub const GIT_DEFAULT_UNIFIED: u64 = 3;
/// Most lines of context around a change.
pub const GIT_MAX_UNIFIED: u64 = 50;
/// Lines that `git_blame` answers when only an end is given.
pub const GIT_BLAME_SPAN: u64 = 100;
/// Highest line number that `git_blame` takes.
pub const GIT_MAX_LINE: u64 = 10_000_000;
/// Longest revision in bytes.
pub const GIT_MAX_REVISION_BYTES: usize = 200;
/// Longest path in bytes: `PATH_MAX` without its NUL (`limits.h`).
pub const GIT_MAX_PATH_BYTES: usize = 4_095;
/// Longest search text (pattern, author, pickaxe) in bytes.
pub const GIT_MAX_SEARCH_BYTES: usize = 1_000;
/// Most arguments of `runGitCommand`.
pub const GIT_MAX_ARGS: usize = 1_000;
/// Time budget of a step that only resolves a value, in milliseconds.
pub const GIT_RESOLVE_TIMEOUT_MS: u64 = 10_000;
/// Bytes that a resolving step may answer.
pub const GIT_RESOLVE_OUTPUT_BYTES: u64 = 64 * 1024;
/// Bytes of standard error that are looked at to tell a missing object from another failure.
pub const GIT_STDERR_BYTES: usize = 64 * 1024;
/// Largest repository configuration that is read, in bytes.
pub const GIT_MAX_CONFIG_BYTES: u64 = 1024 * 1024;
/// Largest index that is copied, in bytes.
pub const GIT_MAX_INDEX_BYTES: u64 = 1024 * 1024 * 1024;
/// Largest of the one-line files (`HEAD`, a `.git` file, `commondir`), in bytes.
pub const GIT_MAX_LINE_FILE_BYTES: u64 = 64 * 1024;
/// Most entries looked at below `objects`, `refs` and `logs`.
pub const GIT_MAX_LAYOUT_ENTRIES: usize = 1_000_000;
/// Oldest git that is used: below it the fixes for lazy fetching and for hostile clones are missing.
pub const GIT_MIN_VERSION: (u32, u32, u32) = (2, 39, 4);
/// First git that reads reftable repositories.
pub const GIT_REFTABLE_VERSION: (u32, u32, u32) = (2, 45, 0);
/// Age from which a scratch directory that nobody holds is removed, in milliseconds.
pub const GIT_SWEEP_AFTER_MS: u64 = 60_000;
/// From SIGTERM to SIGKILL of a git run, in milliseconds: it has nothing to clean up.
pub const GIT_KILL_GRACE_MS: u64 = 500;
/// Address space of a git run, in bytes: what a bomb in a repository may take.
pub const GIT_ADDRESS_SPACE_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Most bytes that one step of a follower brings.
pub const FOLLOW_CHUNK_BYTES: usize = 64 * 1024;
/// Age in milliseconds from which a folder that was never finished is taken for one that never will be.
pub const UNFINISHED_AFTER_MS: u64 = 3_600_000;
/// Commands of a list when the caller doesn't say.
pub const DEFAULT_LIST_LENGTH: u64 = 50;
/// Most commands of one list.
pub const MAX_LIST_LENGTH: u64 = 500;
/// After how many settled commands the host's `retention` is applied again.
pub const RETENTION_EVERY: u64 = 64;
/// Least time from one measuring of the vault to the next, in milliseconds.
pub const MEASURE_AFTER_MS: u64 = 1_000;
/// From one measuring of the vault to the next passes at least this many times what the measuring took.
pub const MEASURE_SHARE: u32 = 20;
/// For how long a command runs before its keeper listens to other processes, in milliseconds. Making the socket's file and
/// removing it again costs a short command more than anybody has time to connect.
pub const KEEPER_LISTENS_AFTER_MS: u64 = 50;
/// How long a keeper that does not listen yet is waited for, in milliseconds.
pub const KEEPER_LISTENS_MS: u64 = 5_000;
/// Most UTF-16 units of a banked artifact's `kind`.
pub const MAX_KIND_UNITS: usize = 60;
