// However a process of this very runtime ends, nothing that it started lives on, and the records say so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { eventually, processesWith } from '../../__test__/helpers/facts.mjs';

const script = fileURLToPath(new URL('exits-host.mjs', import.meta.url));
const flags = 'Deno' in globalThis ? ['run', '-A', '--no-lock'] : [];

async function runHost(vaultDir, mark, end) {
  const argv = [...flags, script, JSON.stringify({ vaultDir, mark, end })];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].on('data', chunk => (out[name] += chunk));
  const stuck = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const [code, signal] = await once(child, 'close');
  clearTimeout(stuck);
  return { code, signal, ...out };
}

const ends = {
  'process.exit(3)': ({ code }) => code === 3,
  'an uncaught error': ({ code }) => code !== 0,
  'a SIGTERM': ({ signal, code }) => signal === 'SIGTERM' || code === 143,
  'a SIGKILL': ({ signal, code }) => signal === 'SIGKILL' || code === 137,
  // With `keepAlive: false` a running command doesn't hold the process.
  'nothing left to do': ({ code }) => code === 0,
};

const dying = ([end, isRight]) => [
  `after ${end} nothing lives on`,
  async ({ host, vaultDir }) => {
    const mark = `argvault-exits-${process.pid}-${end.replaceAll(/\W/g, '')}`;
    const ended = await runHost(vaultDir, mark, end);
    assert.ok(isRight(ended), JSON.stringify(ended));
    const taskId = ended.stdout.trim();
    assert.match(taskId, /^\w/, ended.stderr);
    const settled = () => {
      const status = host.getBackgroundCommandStatus(taskId);
      return status.state !== 'running' && status;
    };
    assert.equal((await eventually(settled, 'the record of the end')).cause, 'host-gone');
    assert.deepEqual(await processesWith(mark), []);
  },
];

export const exits = {
  ...Object.fromEntries(Object.entries(ends).map(dying)),

  'a process waits for its command and then exits by itself': async ({ vaultDir }) => {
    const { code, stdout, stderr } = await runHost(vaultDir, '', 'the end of the command');
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'exited\n', stderr: '' });
  },
};
