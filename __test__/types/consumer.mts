// Compiled, never run: what a strict ESM consumer may rely on.
import * as argvault from 'argvault';
import {
  type ArgvaultErrorCode,
  type BackgroundCommandStatus,
  type CommandBackend,
  CommandHost,
  executeTool,
  followLines,
  followOutput,
  getBackgroundCommandStatus,
  isArgvaultError,
  type OutputLinePage,
  type OutputPage,
  readArtifactBytes,
  readBackgroundCommandOutput,
  registerBackgroundCommandTools,
  runCommand,
  type SettledStatus,
  setBackgroundCommandPolicy,
  setToolContext,
  startBackgroundCommand,
  type Tool,
  type ToolResult,
  tools,
} from 'argvault';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

const { warnings } = await setBackgroundCommandPolicy({
  allowedExecutables: ['git', { path: '/usr/bin/env', sha256: '00' }],
  cwdRoot: '/',
  allowedCommands: [['git', { oneOf: ['log', 'status'] }, { rest: true }], { name: 'all', argv: ['git'] }],
  approve: async ({ argv, confinement }) =>
    argv.length > 1 && confinement?.enforced.write === 'enforced' && confinement.network === 'none',
  confinement: { level: 'required', execute: 'allowed', read: ['.'], network: { connectTcp: [443] } },
  allowlist: (argv, cwd) => argv[0] === 'git' && cwd === '/',
});
holds<Equal<typeof warnings, string[]>>();

const { taskId } = await startBackgroundCommand(['git', 'log'] as const, {
  abortSignal: AbortSignal.timeout(1),
  confinement: { network: 'none' },
});
const status = getBackgroundCommandStatus(taskId);

function describe(seen: BackgroundCommandStatus): string {
  switch (seen.state) {
    case 'queued':
    case 'running':
      return seen.tailPreview;
    case 'exited':
      holds<Equal<typeof seen.cause, 'exit' | 'start-failed'>>();
      return `${seen.exitCode} ${seen.stdout.artifactId}`;
    case 'killed':
    case 'timeout':
    case 'output-limit':
      return `${seen.signal} ${seen.strays}`;
    default:
      return seen satisfies never;
  }
}
describe(status);
holds<Equal<NonNullable<typeof status.confinement>['write'], 'enforced' | 'unavailable' | 'not-requested'>>();
// @ts-expect-error a running command has no artifact yet
status.stdout;

declare const ownRunner: CommandBackend;
const backend: CommandBackend = argvault.isSupported().ok ? argvault : ownRunner;
await backend.dispose();

const host: CommandBackend = new CommandHost({ keepAlive: false, onSettled: settled => describe(settled) });
const unbounded = await host.awaitBackgroundCommand(taskId);
holds<Equal<typeof unbounded, SettledStatus>>();
const bounded = await host.awaitBackgroundCommand(taskId, { timeoutMs: 5 });
holds<Equal<typeof bounded, BackgroundCommandStatus>>();
const done = await runCommand(['git', 'log'], {
  env: { PATH: '/bin', HOME: undefined },
  input: new Uint8Array(3),
});
holds<Equal<typeof done, SettledStatus>>();

const bytes = await readArtifactBytes(done.stdout.artifactId, { offset: 0, length: 10 });
holds<Equal<typeof bytes, Buffer | null>>();
const page = await readBackgroundCommandOutput(taskId, { stream: 'stderr', limit: 5 });
holds<Equal<typeof page, OutputPage>>();
const lines = await readBackgroundCommandOutput(taskId, { line: 3, lines: 2 });
holds<Equal<typeof lines, OutputLinePage>>();
for await (const chunk of followOutput(taskId, { from: 10 })) chunk.readUInt8();
for await (const line of followLines(taskId, { stream: 'stderr' })) line.trim();

try {
  // @ts-expect-error a command is an array, not a line
  await startBackgroundCommand('git log');
  // @ts-expect-error unknown keys are refused
  await startBackgroundCommand(['git'], { shell: true });
} catch (error) {
  if (isArgvaultError(error)) {
    const code: ArgvaultErrorCode = error.code;
    holds<Equal<typeof error.hint, string>>();
    // @ts-expect-error the list of codes is closed
    if (code === 'ERR_NO_SUCH_CODE') throw error;
  }
}

// As ai's `JSONSchema7`, MCP's `Tool['inputSchema']` and LangChain's `Record<string, unknown>` take them: no casts.
type McpTool = {
  name: string;
  description?: string;
  inputSchema: {
    type: 'object';
    properties?: { [x: string]: object };
    required?: string[];
    [x: string]: unknown;
  };
  annotations?: { readOnlyHint?: boolean; [x: string]: unknown };
};
const registered = await registerBackgroundCommandTools({ allowedExecutables: ['git'], cwdRoot: '/' });
holds<Equal<typeof registered, Tool[]>>();
const listed: McpTool[] = tools();
const asRecords: Record<string, unknown>[] = tools().map(tool => tool.inputSchema);
setToolContext({ sessionId: 'a' });
const called: ToolResult = await executeTool('command_status', { taskId, waitMs: 5 }, { sessionId: 'a' });
if (called.isError) holds<Equal<typeof called.code, ArgvaultErrorCode>>();
else asRecords.push(called);
const structured: { [x: string]: unknown } = called;
for (const tool of registered) await tool.execute(structured, { abortSignal: AbortSignal.timeout(1) });
listed.length = 0;
// @ts-expect-error unknown keys are refused
await executeTool('command_status', {}, { session: 'a' });
