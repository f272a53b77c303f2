// A host of its own for each test, on a vault of its own, disposed of and removed whatever happens.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommandHost } from 'argvault';
import { eventually } from './facts.mjs';

export * from './facts.mjs';

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

/** Waits until a running command has written this. */
export function written(host, taskId, text, stream = 'stdout') {
  const seen = async () =>
    (await host.readBackgroundCommandOutput(taskId, { stream })).content.includes(text);
  return eventually(seen, `"${text}" on ${stream} of ${taskId}`);
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
