// Runs cases one after another without any test framework: it must behave the same in every runtime.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

const CEILING_MS = 60_000;

/** A directory with a `root` to run in, gone at the end. */
export function makePlace() {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'argvault-runtime-')));
  const root = path.join(dir, 'root');
  mkdirSync(root);
  return { dir, root, vaultDir: path.join(dir, 'vault') };
}

/**
 * Each case gets a host of its own in a place of its own, under a policy that allows `sh` and `git`.
 * @param {Record<string, (context: object) => Promise<void>>} cases
 */
export async function runCases(argvault, cases) {
  const failed = [];
  for (const [title, run] of Object.entries(cases)) {
    const place = makePlace();
    const host = new argvault.CommandHost({ vaultDir: place.vaultDir });
    let timer;
    try {
      const policy = { allowedExecutables: ['sh', 'git'], cwdRoot: place.root, killGraceMs: 1_000 };
      await host.setBackgroundCommandPolicy(policy);
      const stuck = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no end after ${CEILING_MS} ms`)), CEILING_MS);
      });
      await Promise.race([run({ argvault, host, policy, ...place }), stuck]);
    } catch (error) {
      failed.push(title);
      console.error(`not ok ${title}\n${error?.stack ?? error}`);
    } finally {
      clearTimeout(timer);
      await host.dispose();
      rmSync(place.dir, { recursive: true, force: true });
    }
  }
  const passed = Object.keys(cases).length - failed.length;
  console.log(`passed ${passed}, failed ${failed.length}`);
  if (failed.length > 0) process.exitCode = 1;
}

/** Awaits the refusal of a call that must reject and must not throw. */
export async function refused(call, code, message = call) {
  let promise;
  assert.doesNotThrow(() => {
    promise = call();
  }, `${message} threw`);
  const error = await promise.then(
    value => assert.fail(`${message} was not refused: ${JSON.stringify(value)}`),
    reason => reason,
  );
  assert.equal(error.code, code, `${message}: ${error.message}`);
  assert.ok(error.message.endsWith(error.hint) && error.hint.length > 0, error.message);
  return error;
}

/** Waits until a running command has written this. */
export async function written(host, taskId, text) {
  let seen = '';
  for await (const line of host.followLines(taskId)) {
    seen += `${line}\n`;
    if (line.includes(text)) return;
  }
  assert.fail(`"${text}" was never written, but: ${seen}`);
}
