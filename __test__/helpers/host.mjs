// A host of its own for each test, on a vault of its own, disposed of and removed whatever happens.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandHost } from 'argvault';

export const CEILING_MS = 30_000;

/** A temporary directory with an empty `root` and a place for a vault. */
export async function makePlace(t, beforeRemoval = async () => {}) {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'argvault-test-')));
  t.after(async () => {
    await beforeRemoval();
    await rm(dir, { recursive: true, force: true });
  });
  const root = path.join(dir, 'root');
  await mkdir(root);
  return { dir, root, vaultDir: path.join(dir, 'vault') };
}

/** A host with a policy that allows `sh`, `node` and what is given. */
export async function openHost(t, { policy, options } = {}) {
  // One hook for both: the vault must not go before its host's commands have.
  const opened = {};
  const place = await makePlace(t, () => opened.host?.dispose());
  const host = new CommandHost({ vaultDir: place.vaultDir, ...options });
  opened.host = host;
  const base = { allowedExecutables: ['sh', process.execPath], cwdRoot: place.root, killGraceMs: 1_000 };
  await host.setBackgroundCommandPolicy({ ...base, ...policy });
  return { host, ...place };
}

/** Asks again until `fact` answers something truthy; says what was last seen when it never does. */
export async function eventually(fact, what, ceilingMs = CEILING_MS) {
  const end = performance.now() + ceilingMs;
  for (;;) {
    const answer = await fact();
    if (answer) return answer;
    if (performance.now() > end) assert.fail(`never came: ${what}; last seen: ${answer}`);
    await sleep(10);
  }
}

/** Waits until a running command has written this. */
export function written(host, taskId, text, stream = 'stdout') {
  const seen = async () =>
    (await host.readBackgroundCommandOutput(taskId, { stream })).content.includes(text);
  return eventually(seen, `"${text}" on ${stream} of ${taskId}`);
}

/** The state letter of a process, or nothing when it is gone; a zombie is `Z`. */
export async function processState(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

export const isAlive = async pid => !['Z', 'X', undefined].includes(await processState(pid));

/** Processes whose command line holds `mark`: what a test's command left behind. */
export async function processesWith(mark) {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((pid, i) => pid !== process.pid && lines[i].includes(mark));
}

/** Awaits the refusal and checks its code, its words and that it ends with its hint. */
export async function refused(promise, code, ...words) {
  const error = await promise.then(
    value => assert.fail(`not refused: ${JSON.stringify(value)}`),
    reason => reason,
  );
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), `"${word}" in: ${error.message}`);
  assert.ok(
    error.hint.length > 0 && error.message.endsWith(error.hint),
    `hint at the end of: ${error.message}`,
  );
  return error;
}
