import assert from 'node:assert/strict';
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import native from '../../js/native.js';
import { root } from '../helpers/child.mjs';

const absent = () =>
  native.loadNative(root, () => {
    throw new Error('invalid ELF header.\nsecond line');
  });

test('without the addon importing works and isSupported says why not', () => {
  const support = compose.compose(absent).isSupported();
  assert.equal(support.ok, false);
  assert.equal(support.code, 'ERR_PLATFORM');
  for (const word of ['linux', process.arch, 'argvault.linux-', '.node', 'npm run build']) {
    assert.ok(support.reason.includes(word), `${word} in ${support.reason}`);
  }
  assert.ok(!support.reason.includes('second line'));
});

test('without the addon every call fails with ERR_PLATFORM, and only dispose has nothing to do', async () => {
  const api = compose.compose(absent);
  const host = new api.CommandHost({ vaultDir: '/tmp' });
  const sync = [
    'getBackgroundCommandPolicy',
    'getBackgroundCommandStatus',
    'backgroundCommandCounts',
    'tools',
    'setToolContext',
  ];
  const iterators = ['followOutput', 'followLines'];
  const inBand = ['executeTool'];
  const other = [
    'ArgvaultError',
    'CommandHost',
    'isArgvaultError',
    'isSupported',
    'dispose',
    'configureDefaultHost',
  ];
  const asynchronous = Object.keys(api).filter(
    name => ![...sync, ...iterators, ...inBand, ...other].includes(name),
  );
  assert.ok(asynchronous.length > 10);
  for (const on of [api, host]) {
    for (const name of sync) assert.throws(() => on[name]('x'), { code: 'ERR_PLATFORM' }, name);
    for (const name of asynchronous) await assert.rejects(on[name]('x'), { code: 'ERR_PLATFORM' }, name);
    for (const name of iterators) await assert.rejects(on[name]('x').next(), { code: 'ERR_PLATFORM' }, name);
    for (const name of inBand) {
      const { isError, code } = await on[name]('x');
      assert.deepEqual({ isError, code }, { isError: true, code: 'ERR_PLATFORM' }, name);
    }
    await on.dispose();
  }
  await assert.rejects(api.configureDefaultHost({}), { code: 'ERR_PLATFORM' });
});

/** Has `process` say something else of the machine for one test. */
function pretend(t, faked) {
  for (const [name, value] of Object.entries(faked)) {
    const own = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, { value, configurable: true, enumerable: own.enumerable });
    t.after(() => Object.defineProperty(process, name, own));
  }
}

const reportOf = header => ({ excludeNetwork: false, getReport: () => ({ header }) });

for (const platform of ['darwin', 'win32', 'freebsd', 'android']) {
  test(`on ${platform} nothing is loaded, and the message says that Linux is needed`, t => {
    pretend(t, { platform });
    const { error } = native.loadNative(root, () => assert.fail('the addon was asked for'));
    assert.match(error.message, new RegExp(`Linux only, and this is ${platform} .*\\.$`));
    assert.equal(error.details.expectedPackage, null);
  });
}

for (const { arch, report, name, libc } of [
  {
    arch: 's390x',
    report: reportOf({ glibcVersionRuntime: '2.28' }),
    name: 'linux-s390x-gnu',
    libc: 'glibc 2.28',
  },
  { arch: 's390x', report: reportOf({}), name: 'linux-s390x-musl', libc: 'musl' },
  { arch: 's390x', report: undefined, name: 'linux-s390x-gnu', libc: 'unknown libc' },
]) {
  test(`on ${arch} with ${libc} the message names ${name}`, t => {
    pretend(t, { arch, report });
    const { message, hint, details } = absent().error;
    assert.equal(details.libc, libc);
    assert.equal(details.expectedPackage, `argvault-${name}`);
    assert.ok(details.expectedFile.endsWith(`/argvault.${name}.node`));
    assert.ok(
      message.startsWith(`argvault's native addon for linux ${arch} (${libc}) was not found`),
      message,
    );
    for (const word of [details.expectedPackage, details.expectedFile, 'npm run build'])
      assert.ok(message.includes(word), word);
    assert.ok(message.endsWith(hint));
  });
}

test('an addon that is there but was not loaded is named with the first line of the reason', () => {
  const { message, details } = absent().error;
  assert.ok(message.includes(`could not be loaded from ${details.found}: invalid ELF header. `), message);
});

/** A package's folder with an addon of its own that is none. */
function placeWithAddon(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'argvault-native-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, path.basename(absent().error.details.expectedFile));
  writeFileSync(file, 'no addon');
  return { folder, file };
}

test('an addon that was built in place is the one that is loaded, and says why it is not', t => {
  const { folder, file } = placeWithAddon(t);
  const { message, hint } = native.loadNative(folder).error;
  assert.ok(message.includes(`could not be loaded from ${file}: `), message);
  assert.match(message, /file too short/);
  assert.match(hint, /^Run `npm install --include=optional argvault`/);
});

test('where there is no ldd to look into, the report tells the C library', t => {
  const { folder, file } = placeWithAddon(t);
  t.mock.method(fs, 'readFileSync', () => {
    throw new Error('ENOENT');
  });
  const { details } = native.loadNative(folder).error;
  assert.equal(details.found, file);
});
