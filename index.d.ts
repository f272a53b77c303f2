/**
 * argvault runs commands for a model without a shell.
 *
 * Times are milliseconds, sizes are bytes, text offsets are UTF-16 units, points in time are epoch milliseconds.
 * Whatever returns a promise rejects with an {@link ArgvaultError} and never throws; it rejects only when nothing
 * ran. How a command ended is data: a non-zero exit, a timeout or a program that can't be started is a status.
 */

// ── Errors ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Every code that a caller can see. The README says for each what to do. */
export type ArgvaultErrorCode =
  | 'ERR_NO_POLICY'
  | 'ERR_BAD_POLICY'
  | 'ERR_BAD_ARGV'
  | 'ERR_NOT_AN_EXECUTABLE_NAME'
  | 'ERR_ARGV_TOO_LONG'
  | 'ERR_EXECUTABLE_NOT_ALLOWED'
  | 'ERR_EXECUTABLE_CHANGED'
  | 'ERR_COMMAND_NOT_ALLOWED'
  | 'ERR_APPROVAL_DENIED'
  | 'ERR_APPROVAL_PENDING'
  | 'ERR_VETOED'
  | 'ERR_ROOT_NOT_FOUND'
  | 'ERR_CWD_NOT_FOUND'
  | 'ERR_CWD_NOT_A_DIRECTORY'
  | 'ERR_CWD_PERMISSION'
  | 'ERR_CWD_OUTSIDE_ROOT'
  | 'ERR_BAD_OPTION'
  | 'ERR_BAD_ENV'
  | 'ERR_BUDGET'
  | 'ERR_ABORTED'
  | 'ERR_UNKNOWN_TASK'
  | 'ERR_UNKNOWN_ARTIFACT'
  | 'ERR_UNKNOWN_TOOL'
  | 'ERR_BAD_PATTERN'
  | 'ERR_ARTIFACT_TOO_LARGE'
  | 'ERR_VAULT_UNAVAILABLE'
  | 'ERR_VAULT_FULL'
  | 'ERR_RESOURCES'
  | 'ERR_KEEPER'
  | 'ERR_PLATFORM'
  | 'ERR_CONFINEMENT_UNAVAILABLE'
  | 'ERR_DISPOSED'
  | 'ERR_GIT_NOT_REGISTERED'
  | 'ERR_GIT_BAD_VALUE'
  | 'ERR_GIT_BAD_REVISION'
  | 'ERR_GIT_BAD_PATH'
  | 'ERR_GIT_NO_REPOSITORY'
  | 'ERR_GIT_LAYOUT'
  | 'ERR_GIT_OWNER'
  | 'ERR_GIT_NOT_FOUND'
  | 'ERR_GIT_VERSION'
  | 'ERR_GIT_MISSING_OBJECT'
  | 'ERR_GIT_FAILED'
  | 'ERR_INTERNAL';

/** What every refusal and failure of this package is. */
export declare class ArgvaultError extends Error {
  private constructor();
  /** Stable; match on this. */
  readonly code: ArgvaultErrorCode;
  /** The recovery step alone; `message` ends with it. */
  readonly hint: string;
  /** What the message is about, by name: a path as given and as resolved, a limit, the nearest known name, … */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Whether `value` is an {@link ArgvaultError}, also one of another realm or another copy of this package. */
export declare function isArgvaultError(value: unknown): value is ArgvaultError;

// ── Policy ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A file that may run only while its content has this digest. */
export interface PinnedExecutable {
  /** Absolute path. */
  path: string;
  /** SHA-256 of the file in hexadecimal. */
  sha256: string;
}

/** One argv entry of a pattern: this very string, one of several, or (only as the last) any number of any strings. */
export type ArgvPatternPart = string | { oneOf: readonly string[] } | { rest: true };

/** What a whole argv must look like, with or without a name to be called by in refusals and approvals. */
export type CommandPattern = readonly ArgvPatternPart[] | { name: string; argv: readonly ArgvPatternPart[] };

/** A command that matched no pattern, exactly as it would run. Nothing of it can change while a human thinks. */
export interface ApprovalRequest {
  readonly argv: readonly string[];
  /** Absolute, with symbolic links resolved. */
  readonly cwd: string;
  /** The resolved file that would be executed. */
  readonly executable: string;
  /** Names of the environment variables that the program would get; never their values. */
  readonly envNames: readonly string[];
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** What the kernel would hold it to; absent without `confinement`. */
  readonly confinement?: ApprovalConfinement;
  readonly label: string;
  readonly sessionId?: string;
}

/** A confinement with every name and path resolved. What is left out is not restricted. */
export interface ApprovalConfinement {
  readonly level: 'required' | 'best-effort';
  /** The files that the tree may execute, with their interpreters and loaders, and directories of such. */
  readonly execute?: readonly string[];
  /** Readable beside the system's own files. */
  readonly read?: readonly string[];
  /** Writable beside the temporary directory. */
  readonly write?: readonly string[];
  readonly network: 'none' | 'host' | { readonly connectTcp: readonly number[] };
  readonly signals?: 'own-tree';
  readonly keepTmp: boolean;
  /** What of it this kernel enforces. */
  readonly enforced: Readonly<Omit<ConfinementStatus, 'level' | 'executables'>>;
}

/**
 * What the kernel holds a command's whole tree to. Paths are absolute, or from `cwdRoot` (`'.'` is the root itself). What
 * is left out is not restricted.
 */
export interface ConfinementRules {
  /** `required`: what this kernel can't enforce is refused. `best-effort`: the status says what it could not. */
  level: 'required' | 'best-effort';
  /** The files of `allowedExecutables`, or these: names on the host's PATH, absolute files and directories. */
  execute?: 'allowed' | readonly string[];
  /** Readable beside the system's own files. */
  read?: readonly string[];
  /** Writable beside the temporary directory. */
  write?: readonly string[];
  /** Default `host`. `none`: no sockets. Ports: outgoing TCP to these, nothing else. */
  network?: 'none' | 'host' | { connectTcp: readonly number[] };
  /** Signals reach the command's own tree only. */
  signals?: 'own-tree';
  /** The private temporary directory stays. Default false. */
  keepTmp?: boolean;
}

/**
 * Rules, or a name for usual ones, all `required`: `read-only` writes nowhere but in a private temporary directory and
 * has no network; `workspace` reads and writes below `cwdRoot`; `git` reads below it, and runs git alone.
 */
export type Confinement = 'read-only' | 'workspace' | 'git' | ConfinementRules;

/** What may run, where, and with which budgets. Fixed once it is set. */
export interface BackgroundCommandPolicy {
  /**
   * Exactly what argv[0] may be. Bare names are resolved on the host's own PATH; a relative entry with a slash is
   * looked for from the command's working directory.
   */
  allowedExecutables: readonly (string | PinnedExecutable)[];
  /** The directory that no command may start outside of; opened anew at each start. */
  cwdRoot: string;
  /** When given, the whole argv must match one of these, or `approve` decides. */
  allowedCommands?: readonly CommandPattern[];
  /** Asked when no pattern matched. Only `true` allows; anything else, a throw or silence refuses. */
  approve?: (request: ApprovalRequest) => unknown;
  /** How long `approve` and `allowlist` may take. Default 300 000. */
  approvalTimeoutMs?: number;
  /** The last word on every command. Only `true` allows; a string refuses and is the message, verbatim. */
  allowlist?: (argv: string[], cwd: string) => unknown;
  /**
   * What a start without `env` gets: everything (the default), a minimal set (PATH, HOME, USER, LANG, LC_*, TZ,
   * TMPDIR, TERM), or these names.
   */
  inheritEnv?: 'all' | 'minimal' | readonly string[];
  /** Time budget of a command that doesn't say. Default 120 000. */
  defaultTimeoutMs?: number;
  /** The largest budget that a command may ask for. A larger one is refused, not lowered. */
  maxTimeoutMs?: number;
  /** Bytes kept of each stream, and the most that a command may ask for. Default 10 485 760. */
  maxOutputBytes?: number;
  /** Bytes kept of both streams together. */
  maxTotalOutputBytes?: number;
  /** From SIGTERM to SIGKILL. Default 5 000. */
  killGraceMs?: number;
  /** What processes left behind by a program that ended by itself may still take. Default 1 000. */
  strayGraceMs?: number;
  /** Commands at once; more wait as `queued`, in order. */
  maxConcurrent?: number;
  /** How long a command may be `queued`. */
  queueTimeoutMs?: number;
  /** What the kernel holds each command's whole tree to. */
  confinement?: Confinement;
}

/** What setting a policy had to say. */
export interface PolicyResult {
  /** Settings that work but deserve a look, in sentences. */
  warnings: string[];
}

// ── Commands ────────────────────────────────────────────────────────────────────────────────────────────────────

/** How one command is to run. Unknown keys are refused. */
export interface BackgroundCommandOptions {
  /** Relative to the root, or absolute. Default: the root. */
  cwd?: string;
  timeoutMs?: number;
  /** Bytes kept of each stream; one more ends the command as `output-limit`. */
  maxOutputBytes?: number;
  /** The whole environment: it replaces, never merges. Entries that are `undefined` are left out. */
  env?: Readonly<Record<string, string | undefined>>;
  /** What the program reads from its standard input, at most 64 MiB; otherwise end of file. */
  input?: string | Uint8Array;
  /** What people call it. Default: the first two argv entries, at most 60 characters. */
  label?: string;
  /** Default: the one of {@link CommandBackend.setToolContext}. */
  sessionId?: string;
  /** Narrower than the policy's, key by key; a wider one is `ERR_BUDGET`. */
  confinement?: 'read-only' | 'workspace' | 'git' | Partial<ConfinementRules>;
  /** Aborted before the start: `ERR_ABORTED`, nothing ran. Later: the command is killed, cause `abort`. */
  abortSignal?: AbortSignal;
}

/** A command that was accepted. */
export interface BackgroundCommandHandle {
  taskId: string;
  argv: string[];
  startedAt: number;
}

export type StreamName = 'stdout' | 'stderr';

export type BackgroundCommandState = 'queued' | 'running' | 'exited' | 'killed' | 'timeout' | 'output-limit';

/** How the main process ended; `exitCode` or `signal`, never both. */
export interface MainExit {
  exitCode?: number;
  signal?: string;
  at: number;
}

/** What the tree used, from the reaping of every process in it. */
export interface CommandUsage {
  userMs: number;
  systemMs: number;
  /** The largest resident set of one process. */
  maxRssBytes: number;
}

/** Bytes that are kept under an id. */
export interface BankedArtifactRef {
  artifactId: string;
  label: string;
  kind: string;
  sizeBytes: number;
  /** The beginning, cut to the preview's length. */
  preview: string;
  /** The tool call with which a model reads on. */
  readBackHint: string;
}

/** A process that could not be ended, such as one of another user. */
export interface UnkillableProcess {
  pid: number;
  name: string;
}

/** Whether the kernel holds the tree to it, can't, or was not asked to. */
export type Enforcement = 'enforced' | 'unavailable' | 'not-requested';

/** What a command was confined to. */
export interface ConfinementStatus {
  level: 'required' | 'best-effort';
  execute: Enforcement;
  read: Enforcement;
  write: Enforcement;
  network: Enforcement;
  signals: Enforcement;
  /** The system calls that no build, test or question needs, and the look into other processes. */
  syscalls: Enforcement;
  /** The files and directories that may be executed, interpreters and loaders included. */
  executables?: string[];
}

interface StatusBase {
  taskId: string;
  label: string;
  argv: string[];
  /** Absolute, with symbolic links resolved. */
  cwd: string;
  /** The resolved file. */
  executable: string;
  sessionId?: string;
  startedAt: number;
  /** So far, or until it settled. Time in the queue or in approval is not counted. */
  durationMs: number;
  timeoutMs: number;
  maxOutputBytes: number;
  stdoutBytes: number;
  stderrBytes: number;
  /** The end of both streams, at most 2 000 characters. */
  tailPreview: string;
  /** Present for a confined command. */
  confinement?: ConfinementStatus;
  /** The private temporary directory of a confined command, while it is there. */
  tmpDir?: string;
}

interface SettledBase extends StatusBase {
  settledAt: number;
  stdout: BankedArtifactRef;
  stderr: BankedArtifactRef;
  /** How the main process ended; beside a cause other than `exit` and `signal` it says little. */
  exitCode?: number;
  signal?: string;
  mainExit?: MainExit;
  /** What went wrong, in a sentence. */
  error?: string;
  /** Processes that outlived the program and were ended. */
  strays: number;
  /** The names of at most 16 of them. */
  strayNames: string[];
  /** Processes that are still alive, since nobody here may end them. */
  unkillable?: UnkillableProcess[];
  /** The writing end of a stream is in the hands of a process outside the tree. */
  outputHeldOutside?: boolean;
  usage: CommandUsage;
  containment: 'cgroup' | 'subreaper';
}

export interface QueuedStatus extends StatusBase {
  state: 'queued';
}

export interface RunningStatus extends StatusBase {
  state: 'running';
  /** Present once the program itself is done while processes it left behind are still given time. */
  mainExit?: MainExit;
}

/** The program ended by itself, or never could be started (`start-failed`: no exit code, `error` says why). */
export interface ExitedStatus extends SettledBase {
  state: 'exited';
  cause: 'exit' | 'start-failed';
}

export interface KilledStatus extends SettledBase {
  state: 'killed';
  /** `signal`: one that did not come from here. */
  cause: 'signal' | 'kill' | 'kill-all' | 'abort' | 'host-gone' | 'keeper-lost' | 'storage' | 'limit';
}

export interface TimeoutStatus extends SettledBase {
  state: 'timeout';
  cause: 'timeout';
}

export interface OutputLimitStatus extends SettledBase {
  state: 'output-limit';
  cause: 'output-limit' | 'total-output-limit';
}

/** A command that is over: no descendant is alive, every byte is in its files, the record is written. */
export type SettledStatus = ExitedStatus | KilledStatus | TimeoutStatus | OutputLimitStatus;

export type BackgroundCommandStatus = QueuedStatus | RunningStatus | SettledStatus;

export interface AwaitOptions {
  /** How long to wait; the command itself is not touched when it is over. */
  timeoutMs?: number;
  /** Ends the wait only. */
  abortSignal?: AbortSignal;
}

export interface BackgroundCommandCounts {
  running: number;
  /** Settled and not yet looked at. */
  finished: number;
}

export interface ListOptions {
  sessionId?: string;
  /** `live`: queued or running. `abandoned`: settled, but whoever should have written how it ended was killed. */
  state?: BackgroundCommandState | 'live' | 'settled' | 'abandoned';
  /** At most 500. Default 50. */
  limit?: number;
  /** `nextCursor` of the page before; commands that are added meanwhile change nothing about what follows it. */
  cursor?: string;
}

export interface CommandList {
  /** The newest first. */
  commands: BackgroundCommandStatus[];
  nextCursor?: string;
}

// ── Output ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ReadOutputOptions {
  /** Default `stdout`. */
  stream?: StreamName;
  /** In UTF-16 units; below 0 counts as 0, past the end is an empty page. */
  offset?: number;
  /** In UTF-16 units, clamped to 1…200 000. Default 50 000. */
  limit?: number;
}

export interface ReadLinesOptions {
  /** Default `stdout`. */
  stream?: StreamName;
  /** Counted from 1; below 1 counts as 1, past the end is an empty page. */
  line: number;
  /** Clamped to 1…20 000. Default 500. */
  lines?: number;
}

/** Some lines, each behind its number and a tab. At most 200 000 UTF-16 units; only a longer line is cut. */
export interface OutputLinePage {
  taskId: string;
  stream: StreamName;
  content: string;
  /** The first line, as asked. */
  line: number;
  /** How many lines the content holds, a cut one included. */
  lines: number;
  /** Where the first line starts, in UTF-16 units: an `offset` for a page of text. */
  offset: number;
  /** The first line that the content doesn't hold whole. */
  nextLine: number;
  /** Where the content ends, in UTF-16 units. */
  nextOffset: number;
  /** The line was too long: a page of text from `nextOffset` goes on inside it. */
  cut: boolean;
  /** So far; one without a line break at the end counts. */
  totalLines: number;
  /** In UTF-16 units, so far. */
  totalSize: number;
  hasMore: boolean;
}

/** A page of text, decoded as `Buffer.toString('utf8')` decodes; it never ends inside a surrogate pair. */
export interface OutputPage {
  taskId: string;
  stream: StreamName;
  content: string;
  offset: number;
  limit: number;
  /** Where to read on. */
  nextOffset: number;
  /** So far; it only grows. */
  totalSize: number;
  hasMore: boolean;
}

export interface ByteRange {
  /** In bytes. Default 0. */
  offset?: number;
  /** In bytes. Default: to the end. */
  length?: number;
}

export interface BankOptions {
  kind: string;
  label: string;
  sessionId?: string;
  /** Most UTF-16 units of the preview. Default 600. */
  previewChars?: number;
}

export interface FollowOptions {
  /** Default `stdout`. */
  stream?: StreamName;
  /** The byte to begin at. Default 0. */
  from?: number;
}

/** Live output. Leaving the loop frees everything, also while it waits. */
export interface OutputFollower<T> extends AsyncIterableIterator<T> {
  return(value?: unknown): Promise<IteratorResult<T>>;
}

export interface SearchOptions {
  /** A regular expression in Rust's syntax (linear time, no look-around), or plain text with `literal`. */
  pattern: string;
  literal?: boolean;
  ignoreCase?: boolean;
  stream?: StreamName;
  /** Lines of context before a match. */
  before?: number;
  /** Lines of context after a match. */
  after?: number;
  maxMatches?: number;
}

export interface SearchMatch {
  /** Counted from 1. */
  line: number;
  /** Of the line, in UTF-16 units: an `offset` for a page. */
  offset: number;
  text: string;
  before: string[];
  after: string[];
}

export interface SearchResult {
  matches: SearchMatch[];
  /** There are more matches than were answered. */
  truncated: boolean;
}

/** With neither, only what a crash left behind is removed. */
export interface CleanupOptions {
  /** Remove what settled, or was banked, longer ago than this. */
  olderThanMs?: number;
  /** Remove the oldest until the vault takes no more than this of the disk. */
  maxBytes?: number;
}

export interface CleanupResult {
  /** Commands and banked artifacts. */
  removed: number;
  /** Of the disk: blocks, not lengths. */
  freedBytes: number;
}

// ── Tools for a model ───────────────────────────────────────────────────────────────────────────────────────────

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** JSON Schema (draft 7) of a tool's parameters, in one piece: no `$ref`, unknown keys forbidden. */
export type ToolInputSchema = {
  type: 'object';
  properties: { [name: string]: { [keyword: string]: JsonValue } };
  required?: string[];
  additionalProperties: false;
  [keyword: string]: JsonValue | undefined;
};

/** MCP's hints about what a tool does to the world. */
export type ToolAnnotations = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

/** Whose call it is, and how to give it up. Unknown keys are refused. */
export interface ToolCallContext {
  /** Default: the one of {@link CommandBackend.setToolContext}. */
  sessionId?: string;
  /** Ends the call's wait, or a start that is not made yet; never a running command. */
  abortSignal?: AbortSignal;
  /**
   * Whether an abort also kills the command of the call: the one that it started, for as long as it runs, and the one
   * that it waits for, while it waits. Default `false`.
   */
  killOnAbort?: boolean;
}

/** What a refused call answers with; it never throws. `error` is a sentence for the model. */
export type ToolRefusal = { isError: true; error: string; code: ArgvaultErrorCode };

/** What a tool answers: its own fields, or a {@link ToolRefusal}. */
export type ToolResult = ToolRefusal | { isError?: never; [field: string]: JsonValue | undefined };

/** A tool as most agent SDKs take one. It validates by itself: `null` counts as absent, unknown keys are refused. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: ToolInputSchema;
  annotations: ToolAnnotations;
  /** Its result depends on live state and must not be cached. */
  execute(params: unknown, context?: ToolCallContext): Promise<ToolResult>;
}

// ── Git ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Which repository the git tools ask, and how. */
export interface GitToolsOptions {
  /** The checkout, absolute. What it lacks is told by the first question. */
  repoRoot: string;
  /** Time budget of one run, milliseconds. Default 60 000. */
  timeoutMs?: number;
  /** Bytes kept of one answer. Default 33 554 432. */
  maxOutputBytes?: number;
  /** UTF-16 units of `preview`, at most 4 000. Default 2 000. */
  previewChars?: number;
  /** The git to run, absolute. Default: the first on the host's PATH. */
  gitExecutable?: string;
  /** Tools beyond the six; `git_log` adds `author`, `pickaxe` and `follow` to that tool. */
  extra?: readonly ('git_status' | 'git_grep' | 'git_branches' | 'git_file' | 'git_log')[];
  /** Object directories outside of the repository that it may borrow from, absolute. */
  allowAlternates?: readonly string[];
  /** Answers although the checkout belongs to another user. */
  trustOwner?: boolean;
  /** Takes a bare repository, whose history alone is answered. */
  bare?: boolean;
}

/** The answer to a question to git. git's own non-zero exit is `ok: false`, as data. */
export interface GitToolResult {
  /** The argv that ran last. */
  command: string[];
  ok: boolean;
  exitCode?: number;
  state: 'exited' | 'killed' | 'timeout' | 'output-limit';
  /** The head of the answer, control characters escaped; an ellipsis marks a cut. */
  preview: string;
  /** All of the answer. */
  output: BankedArtifactRef;
  /** The call that reads on where `preview` stopped. */
  readBackHint: string;
  /** The head of git's standard error: from {@link CommandBackend.runGitCommand} alone, never for a model. */
  stderrPreview?: string;
}

// ── Hosts ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** A start that was refused, told to `onRefused` and the channel `argvault:refused`. */
export interface RefusedEvent {
  /** As it was passed, whatever it was. */
  argv: unknown;
  error: Error;
}

/** How a host behaves. Unknown keys are refused. */
export interface CommandHostOptions {
  /** Where output is kept; made 0700, parents too. Default `$XDG_STATE_HOME/argvault`, else `~/.local/state/argvault`. */
  vaultDir?: string;
  /** Whether running commands keep the process alive. Default `true`; with `false` its exit ends them. */
  keepAlive?: boolean;
  /** Whether a session sees only its own commands and artifacts. Default `false`. */
  isolateSessions?: boolean;
  /**
   * Refuses starts and banking with `ERR_VAULT_FULL` once the vault takes this many bytes of the disk. Commands that are
   * running, and those of other processes, are counted with a delay.
   */
  maxVaultBytes?: number;
  /** Runs `cleanup` with these by itself: at the first start, and after every 64 settled commands. */
  retention?: CleanupOptions;
  /** `fsync` makes a settled command survive a power cut. Default `rename`. */
  durability?: 'rename' | 'fsync';
  /** A listener that throws or rejects becomes a process warning and changes nothing else. */
  onStarted?: (handle: BackgroundCommandHandle) => void;
  onSettled?: (status: SettledStatus) => void;
  onRefused?: (event: RefusedEvent) => void;
}

/** Whether commands can run here, and if not, why. */
export interface Support {
  ok: boolean;
  code?: ArgvaultErrorCode;
  reason?: string;
}

/**
 * The whole surface of a host, which {@link CommandHost} has and so does this module itself: an SDK puts a runner of its own
 * behind the same calls, and chooses by {@link isSupported}.
 */
export interface CommandBackend {
  /** In force before the call returns; a refused policy changes nothing. Rejects with `ERR_BAD_POLICY`. */
  setBackgroundCommandPolicy(policy: BackgroundCommandPolicy): Promise<PolicyResult>;
  /** The policy in force. */
  getBackgroundCommandPolicy(): BackgroundCommandPolicy | undefined;
  /** Starts a command. Rejects with the code of whatever refused it; then nothing ran. */
  startBackgroundCommand(
    argv: readonly string[],
    options?: BackgroundCommandOptions,
  ): Promise<BackgroundCommandHandle>;
  /** Where a command stands. Throws `ERR_UNKNOWN_TASK`. */
  getBackgroundCommandStatus(taskId: string): BackgroundCommandStatus;
  /** Waits until it is settled. Rejects with `ERR_UNKNOWN_TASK`. */
  awaitBackgroundCommand(taskId: string): Promise<SettledStatus>;
  /** Waits until it is settled, or answers as it stands when the wait is over. */
  awaitBackgroundCommand(taskId: string, options?: AwaitOptions): Promise<BackgroundCommandStatus>;
  /** Start and await in one; an abort kills. */
  runCommand(argv: readonly string[], options?: BackgroundCommandOptions): Promise<SettledStatus>;
  /** Ends a command and its whole tree: `signal` (default `SIGTERM`), then SIGKILL. A settled one is left as it was. */
  killBackgroundCommand(taskId: string, signal?: NodeJS.Signals): Promise<SettledStatus>;
  /** Ends every command of this host, queued ones too; answers how many, once all have settled. */
  killAll(): Promise<number>;
  /** The same as {@link CommandBackend.killAll}. */
  killAllBackgroundCommands(): Promise<number>;
  /** A page of text. Rejects with `ERR_UNKNOWN_TASK`, `ERR_BAD_OPTION`. */
  readBackgroundCommandOutput(taskId: string, options?: ReadOutputOptions): Promise<OutputPage>;
  /** The same by lines. `line` and `lines` don't go together with `offset` and `limit`. */
  readBackgroundCommandOutput(taskId: string, options: ReadLinesOptions): Promise<OutputLinePage>;
  /** An artifact's whole text; `null` for an unknown id. Rejects with `ERR_ARTIFACT_TOO_LARGE` beyond V8's longest string. */
  readArtifact(artifactId: string): Promise<string | null>;
  /** An artifact's bytes; `null` for an unknown id. */
  readArtifactBytes(artifactId: string, range?: ByteRange): Promise<Buffer | null>;
  /** Keeps any text or bytes in the vault. */
  bankArtifact(content: string | Uint8Array, options: BankOptions): Promise<BankedArtifactRef>;
  /** A stream's bytes, live; ends when the command is settled. */
  followOutput(taskId: string, options?: FollowOptions): OutputFollower<Buffer>;
  /** A stream's lines without their line breaks, live; the last may be unfinished. */
  followLines(taskId: string, options?: FollowOptions): OutputFollower<string>;
  /** Searches a stream line by line. Rejects with `ERR_BAD_PATTERN`. */
  searchOutput(taskId: string, options: SearchOptions): Promise<SearchResult>;
  /** Commands in the vault, also those of earlier processes. */
  listCommands(options?: ListOptions): Promise<CommandList>;
  /** How many commands run and how many have finished unseen, of one session or of all. */
  backgroundCommandCounts(sessionId?: string): BackgroundCommandCounts;
  /** Removes settled commands, the oldest first; never a live one. */
  cleanup(options?: CleanupOptions): Promise<CleanupResult>;
  /** Sets the policy and registers the command tools with `retrieve_context`; again is as once. Answers all tools. */
  registerBackgroundCommandTools(policy: BackgroundCommandPolicy): Promise<Tool[]>;
  /** The tools that are registered. */
  tools(): Tool[];
  /** Registers a repository and the git tools, with `retrieve_context`; resolves to all registered tools. */
  registerGitTools(options: GitToolsOptions): Promise<Tool[]>;
  /** Runs one of git's reading commands on the registered repository, hardened as the tools are. For host code. */
  runGitCommand(args: readonly string[], sessionId?: string): Promise<GitToolResult>;
  /** The session of tool calls and of starts that name none. Throws `ERR_BAD_OPTION`. */
  setToolContext(context: { sessionId?: string }): void;
  /** Executes a registered tool. Never rejects: a refusal, also of an unknown name, is a {@link ToolRefusal}. */
  executeTool(name: string, params?: unknown, context?: ToolCallContext): Promise<ToolResult>;
  /** Ends every command, refuses starts whose hook has not answered, and later ones, with `ERR_DISPOSED`. */
  dispose(): Promise<void>;
}

/** An isolated host: its own policy, counters and listeners. */
export declare class CommandHost implements CommandBackend {
  /** Throws `ERR_BAD_OPTION` for options of the wrong shape. */
  constructor(options?: CommandHostOptions);
  setBackgroundCommandPolicy(policy: BackgroundCommandPolicy): Promise<PolicyResult>;
  getBackgroundCommandPolicy(): BackgroundCommandPolicy | undefined;
  startBackgroundCommand(
    argv: readonly string[],
    options?: BackgroundCommandOptions,
  ): Promise<BackgroundCommandHandle>;
  getBackgroundCommandStatus(taskId: string): BackgroundCommandStatus;
  awaitBackgroundCommand(taskId: string): Promise<SettledStatus>;
  awaitBackgroundCommand(taskId: string, options?: AwaitOptions): Promise<BackgroundCommandStatus>;
  runCommand(argv: readonly string[], options?: BackgroundCommandOptions): Promise<SettledStatus>;
  killBackgroundCommand(taskId: string, signal?: NodeJS.Signals): Promise<SettledStatus>;
  killAll(): Promise<number>;
  killAllBackgroundCommands(): Promise<number>;
  readBackgroundCommandOutput(taskId: string, options?: ReadOutputOptions): Promise<OutputPage>;
  readBackgroundCommandOutput(taskId: string, options: ReadLinesOptions): Promise<OutputLinePage>;
  readArtifact(artifactId: string): Promise<string | null>;
  readArtifactBytes(artifactId: string, range?: ByteRange): Promise<Buffer | null>;
  bankArtifact(content: string | Uint8Array, options: BankOptions): Promise<BankedArtifactRef>;
  followOutput(taskId: string, options?: FollowOptions): OutputFollower<Buffer>;
  followLines(taskId: string, options?: FollowOptions): OutputFollower<string>;
  searchOutput(taskId: string, options: SearchOptions): Promise<SearchResult>;
  listCommands(options?: ListOptions): Promise<CommandList>;
  backgroundCommandCounts(sessionId?: string): BackgroundCommandCounts;
  cleanup(options?: CleanupOptions): Promise<CleanupResult>;
  registerBackgroundCommandTools(policy: BackgroundCommandPolicy): Promise<Tool[]>;
  tools(): Tool[];
  registerGitTools(options: GitToolsOptions): Promise<Tool[]>;
  runGitCommand(args: readonly string[], sessionId?: string): Promise<GitToolResult>;
  setToolContext(context: { sessionId?: string }): void;
  executeTool(name: string, params?: unknown, context?: ToolCallContext): Promise<ToolResult>;
  dispose(): Promise<void>;
  /** `await using host = new CommandHost()` disposes of it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether commands can run on this machine; works, and never throws, where the addon can't load. */
export declare function isSupported(): Support;

// ── The default host ────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Options of the host behind the functions below; a vault that they leave open is `ARGVAULT_VAULT`'s. Rejects with
 * `ERR_BAD_OPTION` once that host is in use.
 */
export declare function configureDefaultHost(options: CommandHostOptions): Promise<void>;

export declare const setBackgroundCommandPolicy: CommandBackend['setBackgroundCommandPolicy'];
export declare const getBackgroundCommandPolicy: CommandBackend['getBackgroundCommandPolicy'];
export declare const startBackgroundCommand: CommandBackend['startBackgroundCommand'];
export declare const getBackgroundCommandStatus: CommandBackend['getBackgroundCommandStatus'];
export declare const awaitBackgroundCommand: CommandBackend['awaitBackgroundCommand'];
export declare const runCommand: CommandBackend['runCommand'];
export declare const killBackgroundCommand: CommandBackend['killBackgroundCommand'];
export declare const killAll: CommandBackend['killAll'];
export declare const killAllBackgroundCommands: CommandBackend['killAllBackgroundCommands'];
export declare const readBackgroundCommandOutput: CommandBackend['readBackgroundCommandOutput'];
export declare const readArtifact: CommandBackend['readArtifact'];
export declare const readArtifactBytes: CommandBackend['readArtifactBytes'];
export declare const bankArtifact: CommandBackend['bankArtifact'];
export declare const followOutput: CommandBackend['followOutput'];
export declare const followLines: CommandBackend['followLines'];
export declare const searchOutput: CommandBackend['searchOutput'];
export declare const listCommands: CommandBackend['listCommands'];
export declare const backgroundCommandCounts: CommandBackend['backgroundCommandCounts'];
export declare const cleanup: CommandBackend['cleanup'];
export declare const registerBackgroundCommandTools: CommandBackend['registerBackgroundCommandTools'];
export declare const tools: CommandBackend['tools'];
export declare const registerGitTools: CommandBackend['registerGitTools'];
export declare const runGitCommand: CommandBackend['runGitCommand'];
export declare const setToolContext: CommandBackend['setToolContext'];
export declare const executeTool: CommandBackend['executeTool'];
/** As {@link CommandBackend.dispose}; the next policy makes the default host ready again. */
export declare const dispose: CommandBackend['dispose'];
