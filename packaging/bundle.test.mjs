// A server bundled by esbuild, with the package left out of the bundle as every native one is, or deployed with the files that a
// tracer finds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { nodeFileTrace } from '@vercel/nft';
import { build } from 'esbuild';
import { platform, tarballs } from './lib/packed.mjs';
import { consumer, run, runNode } from './lib/run.mjs';

const folder = consumer({ after });
const inFolder = (...parts) => path.join(folder, ...parts);

before(async () => {
  await run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--offline', ...tarballs]);
});

const formats = [
  ['esm', 'consumer.mjs'],
  ['cjs', 'consumer.cjs'],
];

for (const [format, entry] of formats) {
  test(`bundled as ${format}, it starts a command through the installed package`, async () => {
    const outfile = inFolder('dist', `server.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const common = { bundle: true, platform: 'node', external: ['argvault'], logLevel: 'silent' };
    await build({ ...common, entryPoints: [inFolder(entry)], format, outfile });
    assert.doesNotMatch(readFileSync(outfile, 'utf8'), /ERR_PLATFORM/);
    const seen = JSON.parse(await runNode(folder, outfile));
    const warden = inFolder('node_modules', `argvault-${platform}`, 'argvault-warden');
    assert.deepEqual(seen, { state: 'exited', exitCode: 0, output: '42\n', warden });
  });
}

for (const [format, entry] of formats) {
  test(`bundled along as ${format}, it fails while bundling: the addon is no source text`, async () => {
    const common = { bundle: true, platform: 'node', format, logLevel: 'silent' };
    const outfile = inFolder('dist', 'all.js');
    const all = { ...common, entryPoints: [inFolder(entry)], outfile };
    await assert.rejects(build(all), /No loader is configured for "\.node" files/);
  });
}

for (const [format, entry] of formats) {
  test(`a tracer of files that begins with an ${format} module finds the package's JavaScript and the addon`, async () => {
    const { fileList } = await nodeFileTrace([inFolder(entry)], { base: folder });
    const addon = `node_modules/argvault-${platform}/argvault.${platform}.node`;
    for (const file of ['node_modules/argvault/index.js', addon]) {
      assert.ok(fileList.has(file), `${file} is not among ${[...fileList].join(' ')}`);
    }
  });
}
