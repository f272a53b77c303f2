// pnpm: packages are links into a store, and none sees what it doesn't depend on.
import assert from 'node:assert/strict';
import { realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { platform } from './lib/packed.mjs';
import { registry } from './lib/registry.mjs';
import { consumer, root, run, runNode } from './lib/run.mjs';

const pnpm = path.join(root, 'packaging', 'node_modules', '.bin', 'pnpm');

test('pnpm add argvault: the package of this platform comes into its store and runs from there', async t => {
  const { url } = await registry(t);
  const folder = consumer(t);
  // Nothing is hoisted, so that only a declared dependency can be found.
  writeFileSync(path.join(folder, 'pnpm-workspace.yaml'), 'hoist: false\n');
  await run(folder, pnpm, ['add', '--registry', url, '--store-dir', path.join(folder, '.store'), 'argvault']);
  const own = realpathSync(path.join(folder, 'node_modules', 'argvault'));
  const binaries = realpathSync(path.join(own, '..', `argvault-${platform}`));
  assert.match(binaries, /node_modules\/\.pnpm\/argvault-linux-/);
  for (const program of ['consumer.mjs', 'consumer.cjs']) {
    const seen = JSON.parse(await runNode(folder, program));
    const warden = path.join(binaries, 'argvault-warden');
    assert.deepEqual(seen, { state: 'exited', exitCode: 0, output: '42\n', warden }, program);
  }
});
