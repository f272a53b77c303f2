import assert from 'node:assert/strict';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import native from '../../js/native.js';

const absent = () =>
  native.loadNative(() => {
    throw new Error('Cannot find native binding. npm has a bug.\nsecond line');
  });

test('without the addon importing works and isSupported says why not', () => {
  const support = compose.compose(absent).isSupported();
  assert.equal(support.ok, false);
  assert.equal(support.code, 'ERR_PLATFORM');
  for (const word of [process.platform, process.arch, 'argvault.linux-', '.node', 'npm run build']) {
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

test('on another platform the message says that Linux is needed', t => {
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  t.after(() => Object.defineProperty(process, 'platform', { value: platform }));
  assert.match(absent().error.message, /Linux only, and this is darwin .*\.$/);
});
