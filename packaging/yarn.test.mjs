// Yarn with Plug'n'Play: packages stay in archives and are read through a patched `fs`, which can neither map an addon
// nor execute a warden.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { platform } from './lib/packed.mjs';
import { registry } from './lib/registry.mjs';
import { consumer, root, run } from './lib/run.mjs';

const yarn = path.join(root, 'packaging', 'node_modules', '@yarnpkg', 'cli-dist', 'bin', 'yarn.js');

test('yarn add argvault, with PnP: the binaries are unplugged and run, the rest stays in its archive', async t => {
  const { url } = await registry(t);
  const folder = consumer(t);
  const settings = [
    'nodeLinker: pnp',
    'pnpEnableEsmLoader: true',
    'enableTelemetry: false',
    'enableGlobalCache: false',
    'enableImmutableInstalls: false',
    `npmRegistryServer: "${url}"`,
    'unsafeHttpWhitelist: ["127.0.0.1"]',
  ];
  writeFileSync(path.join(folder, '.yarnrc.yml'), `${settings.join('\n')}\n`);
  writeFileSync(path.join(folder, 'yarn.lock'), '');
  await run(folder, process.execPath, [yarn, 'add', 'argvault']);
  assert.ok(existsSync(path.join(folder, '.pnp.cjs')) && !existsSync(path.join(folder, 'node_modules')));
  for (const program of ['consumer.mjs', 'consumer.cjs']) {
    const { warden, ...seen } = JSON.parse(await run(folder, process.execPath, [yarn, 'node', program]));
    assert.deepEqual(seen, { state: 'exited', exitCode: 0, output: '42\n' }, program);
    const unplugged = path.join(folder, '.yarn', 'unplugged', `argvault-${platform}-npm-`);
    assert.ok(warden.startsWith(unplugged), warden);
  }
});
