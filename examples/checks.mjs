// The main job: this repository's own checks, all in the background at once, watched while they run.
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import {
  awaitBackgroundCommand,
  configureDefaultHost,
  dispose,
  getBackgroundCommandStatus,
  isSupported,
  killBackgroundCommand,
  setBackgroundCommandPolicy,
  startBackgroundCommand,
} from 'argvault';

const root = fileURLToPath(new URL('..', import.meta.url));
const vaultDir = `${root}target/checks-vault`;
const tty = process.stdout.isTTY === true;

const checks = {
  'type check': [execPath, 'node_modules/typescript/bin/tsc', '-p', '__test__/types', '--listFiles'],
  'unit tests': ['cargo', 'test', '--no-default-features', '--lib'],
  'git log': ['git', '--no-pager', 'log', '--stat', '-n', '20'],
  'never ends': ['tail', '-f', '/dev/null'],
};

const support = isSupported();
if (!support.ok) {
  console.error(support.reason);
  process.exit(1);
}

await configureDefaultHost({ vaultDir });
await setBackgroundCommandPolicy({
  allowedExecutables: [execPath, 'cargo', 'git', 'tail'],
  cwdRoot: root,
  defaultTimeoutMs: 600_000,
});

const started = await Promise.all(
  Object.entries(checks).map(async ([label, argv]) => {
    const { taskId } = await startBackgroundCommand(argv, { label });
    return { label, taskId };
  }),
);
const endless = started.at(-1);

const seconds = ms => `${(ms / 1000).toFixed(1)} s`;
const bytes = status => `${status.stdoutBytes + status.stderrBytes} bytes`;
const line = s =>
  `${s.label.padEnd(12)} ${s.state.padEnd(8)} ${seconds(s.durationMs).padStart(8)}  ${bytes(s)}`;

let drawn = 0;
function show() {
  const lines = started.map(({ taskId }) => line(getBackgroundCommandStatus(taskId)));
  if (tty && drawn > 0) process.stdout.write(`\x1b[${drawn}A\x1b[J`);
  console.log(lines.join('\n') + (tty ? '' : '\n'));
  drawn = lines.length;
}

show();
const progress = setInterval(show, tty ? 200 : 2_000);
const settled = await Promise.all(started.slice(0, -1).map(({ taskId }) => awaitBackgroundCommand(taskId)));
settled.push(await killBackgroundCommand(endless.taskId));
clearInterval(progress);
show();

function outcome({ state, cause, exitCode, signal, error, durationMs }) {
  const how = exitCode === undefined ? (signal ?? 'no exit code') : `exit code ${exitCode}`;
  return `${state} (${cause}, ${how}) after ${seconds(durationMs)}${error ? `: ${error}` : ''}`;
}

const lastLines = (text, count) => text.trimEnd().split('\n').slice(-count).join('\n');
for (const status of settled) {
  console.log(`\n━━ ${status.label}: ${outcome(status)}`);
  console.log(lastLines(status.tailPreview, 8));
  for (const { artifactId, sizeBytes } of [status.stdout, status.stderr]) {
    const stream = artifactId.endsWith('stderr') ? 'stderr' : 'stdout';
    console.log(
      `   ${stream}: ${sizeBytes} bytes, artifact ${artifactId}, ${vaultDir}/${status.taskId}/${stream}`,
    );
  }
}

await dispose();
const [endlessStatus, ...rest] = settled.reverse();
process.exitCode = endlessStatus.cause === 'kill' && rest.every(({ exitCode }) => exitCode === 0) ? 0 : 1;
