// The interface of a runner on `child_process`, as an SDK that moves to argvault has it, for the snippets of
// docs/migrating.md. Its names and shapes are the old ones on purpose.

export type State = 'queued' | 'running' | 'exited' | 'killed' | 'timeout' | 'output-limit';

export interface Artifact {
  artifactId: string;
  label: string;
  kind: string;
  sizeBytes: number;
  preview: string;
  readBackHint: string;
}

export interface Status {
  taskId: string;
  label: string;
  state: State;
  exitCode?: number;
  signal?: string;
  durationMs: number;
  stdoutBytes: number;
  stderrBytes: number;
  stdout?: Artifact;
  stderr?: Artifact;
  tailPreview: string;
  error?: string;
}

export interface Policy {
  allowedExecutables: string[];
  allowlist?: (argv: string[], cwd: string) => true | string;
  cwdRoot: string;
  defaultTimeoutMs?: number;
  maxOutputBytes?: number;
}

export interface Options {
  cwd: string;
  timeoutMs?: number;
  maxOutputBytes?: number;
  env?: Record<string, string>;
  label?: string;
  sessionId?: string;
  abortSignal?: AbortSignal;
}

export interface PageRequest {
  stream: 'stdout' | 'stderr';
  offset?: number;
  limit?: number;
}

export interface Page {
  taskId: string;
  stream: 'stdout' | 'stderr';
  content: string;
  offset: number;
  limit: number;
  totalSize: number;
  hasMore: boolean;
}

export interface GitOptions {
  repoRoot: string;
  timeoutMs?: number;
  maxOutputBytes?: number;
  previewChars?: number;
  gitExecutable?: string;
}

export interface GitResult {
  command: string[];
  ok: boolean;
  exitCode?: number;
  state: State;
  preview: string;
  output: Artifact;
  readBackHint: string;
  stderrPreview?: string;
}

export interface Runner {
  setBackgroundCommandPolicy(policy: Policy): void;
  registerBackgroundCommandTools(policy: Policy): void;
  startBackgroundCommand(
    argv: string[],
    options: Options,
  ): Promise<{ taskId: string; argv: string[]; startedAt: number }>;
  getBackgroundCommandStatus(taskId: string): Status;
  awaitBackgroundCommand(taskId: string, options?: { timeoutMs?: number }): Promise<Status>;
  killBackgroundCommand(taskId: string, signal?: NodeJS.Signals): Promise<Status>;
  killAllBackgroundCommands(): Promise<number>;
  readBackgroundCommandOutput(taskId: string, page: PageRequest): Promise<Page>;
  backgroundCommandCounts(sessionId?: string): { running: number; finished: number };
  readArtifact(artifactId: string): Promise<string | null>;
  bankArtifact(
    content: string,
    options: { kind: string; label: string; sessionId?: string; previewChars?: number },
  ): Promise<Artifact>;
  registerGitTools(options: GitOptions): void;
  runGitCommand(args: string[], sessionId?: string): Promise<GitResult>;
}

/** Stands for the runner that is kept: not reached where argvault works. */
export const ownRunner = new Proxy({} as Runner, {
  get(_, name) {
    throw new Error(`the fallback was asked for ${String(name)}`);
  },
});
