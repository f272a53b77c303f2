import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Runs an example as its reader would, on a vault of its own. */
export function runs(file) {
  test(`example ${path.basename(file)}: a command runs, and the answer has its output`, async t => {
    const vault = await mkdtemp(path.join(tmpdir(), 'argvault-example-'));
    t.after(() => rm(vault, { recursive: true, force: true }));
    const env = { ...process.env, ARGVAULT_VAULT: vault };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 100_000 });
    assert.match(stdout, /It exited with 0: \[stdout tail\]\n42\n/);
  });
}
