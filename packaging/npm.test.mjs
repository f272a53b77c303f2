// npm: from tarballs, from a registry, on a system that isn't supported, and with what can go wrong on disk.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { entryPoints, manifestIn, platform, tarballs } from './lib/packed.mjs';
import { registry } from './lib/registry.mjs';
import { consumer, root, run, runNode } from './lib/run.mjs';

const platformPackage = `argvault-${platform}`;
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
const installed = folder =>
  readdirSync(path.join(folder, 'node_modules')).filter(name => !name.startsWith('.'));
const binary = (folder, name) => path.join(folder, 'node_modules', platformPackage, name);
const addon = folder => binary(folder, `argvault.${platform}.node`);

const original = consumer({ after });
before(async () => {
  await run(original, 'npm', ['install', ...quiet, '--offline', ...tarballs]);
});

/** A copy of the folder with both tarballs installed, to be damaged. */
function fromTarballs(t) {
  const folder = consumer(t);
  cpSync(original, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

async function startsIn(folder, warden = binary(folder, 'argvault-warden')) {
  for (const program of ['consumer.mjs', 'consumer.cjs']) {
    const seen = JSON.parse(await runNode(folder, program));
    assert.deepEqual(seen, { state: 'exited', exitCode: 0, output: '42\n', warden }, program);
  }
}

test('both tarballs in an empty folder, without a network: import and require start a command', async () => {
  assert.deepEqual(installed(original), ['argvault', platformPackage]);
  assert.equal(statSync(binary(original, 'argvault-warden')).mode & 0o777, 0o755);
  await startsIn(original);
  const doctor = await run(original, path.join(original, 'node_modules/.bin/argvault'), ['doctor']);
  assert.match(doctor, /^ok /m);
});

test('`npm install argvault` brings the package of this platform alone', async t => {
  const { url } = await registry(t);
  const folder = consumer(t);
  await run(folder, 'npm', ['install', ...quiet, '--registry', url, 'argvault']);
  assert.deepEqual(installed(folder), ['argvault', platformPackage]);
  await startsIn(folder);
});

test('a folder of sources that was built here works as a dependency', async t => {
  const folder = consumer(t);
  await run(folder, 'npm', ['install', ...quiet, '--offline', root]);
  await startsIn(folder, path.join(path.resolve(root), 'argvault-warden'));
});

test('every entry point loads by import and by require, or lacks nothing but its own SDK', async t => {
  const folder = fromTarballs(t);
  const peers = Object.keys(manifestIn('argvault').peerDependencies ?? {});
  const loads = {
    'entry.mjs': specifier => `await import('${specifier}')`,
    'entry.cjs': specifier => `require('${specifier}')`,
  };
  for (const { specifier } of entryPoints()) {
    for (const [file, load] of Object.entries(loads)) {
      writeFileSync(path.join(folder, file), `${load(specifier)}; console.log('loaded');`);
      const said = await runNode(folder, file).catch(error => error.message);
      const lacks = /Cannot find (?:package|module) '((?:@[^/']+\/)?[^/']+)/.exec(said)?.[1];
      assert.ok(said === 'loaded\n' || peers.includes(lacks), `${load(specifier)}: ${said}`);
    }
  }
});

test('on another system it installs and imports, says what is wrong, and refuses every start', async t => {
  const { url } = await registry(t);
  const folder = consumer(t);
  const mac = ['--os=darwin', '--cpu=arm64'];
  await run(folder, 'npm', ['install', ...quiet, ...mac, '--registry', url, 'argvault']);
  assert.deepEqual(installed(folder), ['argvault']);
  const said = JSON.parse(await runNode(folder, 'unsupported.mjs', 'darwin', 'arm64'));
  const { support, ...codes } = said;
  assert.deepEqual({ ok: support.ok, code: support.code }, { ok: false, code: 'ERR_PLATFORM' });
  assert.match(support.reason, /runs on Linux only, and this is darwin arm64\..* kernel 5\.9/);
  assert.deepEqual(codes, { policy: 'ERR_PLATFORM', start: 'ERR_PLATFORM', ownHost: 'ERR_PLATFORM' });
});

/** What `isSupported()` says; every start must be refused with the same code. */
async function reasonIn(folder, ...faked) {
  const { support, ...codes } = JSON.parse(await runNode(folder, 'unsupported.mjs', ...faked));
  assert.deepEqual(codes, { policy: 'ERR_PLATFORM', start: 'ERR_PLATFORM', ownHost: 'ERR_PLATFORM' });
  assert.equal(support.code, 'ERR_PLATFORM');
  return support.reason;
}

test('without the platform package the message names platform, C library, package, file and the ways out', async t => {
  const folder = consumer(t);
  const [rootOnly] = tarballs.filter(file => !file.includes(platform));
  await run(folder, 'npm', ['install', ...quiet, '--offline', '--omit=optional', rootOnly]);
  const reason = await reasonIn(folder);
  const file = path.join(folder, 'node_modules/argvault', `argvault.${platform}.node`);
  const libc = platform.endsWith('musl') ? '(musl)' : '(glibc 2.';
  const ways = ['npm install --include=optional argvault', 'npm run build', 'clone'];
  for (const word of ['linux', process.arch, libc, platformPackage, file, ...ways])
    assert.ok(reason.includes(word), `${word} in: ${reason}`);
});

test('a processor that nothing is published for is named, with the package that would be looked for', async t => {
  const reason = await reasonIn(fromTarballs(t), 'linux', 'riscv64');
  assert.match(reason, /for linux riscv64 .* was not found: neither the package argvault-linux-riscv64-/);
});

test('a damaged addon is refused with what the loader said of that file', async t => {
  const folder = fromTarballs(t);
  const damages = [
    [() => truncateSync(addon(folder), 0), /file too short/],
    [() => writeFileSync(addon(folder), 'not a library, '.repeat(100)), /invalid ELF header/],
  ];
  for (const [damage, said] of damages) {
    damage();
    const reason = await reasonIn(folder);
    assert.ok(reason.includes(`could not be loaded from ${addon(folder)}`), reason);
    assert.match(reason, said);
    assert.doesNotMatch(reason, /npm has a bug/);
  }
});

test('an addon for another C library is refused with the library that is lacking', async t => {
  const folder = fromTarballs(t);
  const lib = path.join(folder, 'libc.musl-x86_64.so.1');
  const cc = (...args) => execFileSync('cc', ['-shared', '-nostdlib', '-x', 'c', ...args], { input: '' });
  cc('-Wl,-soname,libc.musl-x86_64.so.1', '-o', lib, '-');
  cc('-o', addon(folder), '-', '-x', 'none', '-Wl,--no-as-needed', lib);
  rmSync(lib);
  assert.match(await reasonIn(folder), /libc\.musl-x86_64\.so\.1: cannot open shared object file/);
});

test('a warden that lost its run bit refuses the start and names the file', async t => {
  const folder = fromTarballs(t);
  chmodSync(binary(folder, 'argvault-warden'), 0o644);
  await assert.rejects(runNode(folder, 'consumer.mjs'), error => {
    assert.match(error.message, /ERR_KEEPER/);
    assert.ok(error.message.includes(binary(folder, 'argvault-warden')), error.message);
    return true;
  });
});
