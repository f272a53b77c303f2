import assert from 'node:assert/strict';
import { refused } from '../lib/cases.mjs';

const ok = ['sh', '-c', 'exit 0'];
const say = value => {
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

// What a runtime might turn into a number by itself.
const noTime = ['5', '', NaN, Infinity, -1, 0, 1.5, 2 ** 53, 5n, null, true, [], {}, Symbol('x'), () => 1];
const noArgv = [
  undefined,
  null,
  'sh -c true',
  {},
  [],
  [1],
  ['sh', 1],
  ['sh', 'a\0b'],
  ['sh', '\ud800'],
  new Set(ok),
];

export const refusals = {
  'nothing starts without a policy': async ({ argvault, vaultDir }) => {
    const host = new argvault.CommandHost({ vaultDir: `${vaultDir}-2` });
    await refused(() => host.startBackgroundCommand(ok), 'ERR_NO_POLICY');
    await host.dispose();
  },

  'what may not run is refused with its code': async ({ argvault, host }) => {
    const start = (argv, options) => () => host.startBackgroundCommand(argv, options);
    const error = await refused(start(['rm', '-rf']), 'ERR_EXECUTABLE_NOT_ALLOWED');
    assert.ok(
      error instanceof Error && error instanceof argvault.ArgvaultError && argvault.isArgvaultError(error),
    );
    assert.equal(error.name, 'ArgvaultError');
    await refused(start(['sh -c x']), 'ERR_NOT_AN_EXECUTABLE_NAME');
    await refused(start(ok, { cwd: '/' }), 'ERR_CWD_OUTSIDE_ROOT');
    await refused(start(ok, { cwd: 'missing' }), 'ERR_CWD_NOT_FOUND');
    await refused(start(ok, { timeout: 5 }), 'ERR_BAD_OPTION');
    await refused(start(ok, { env: { A: null } }), 'ERR_BAD_ENV');
    await refused(start(ok, { abortSignal: AbortSignal.abort() }), 'ERR_ABORTED');
    await refused(() => host.awaitBackgroundCommand('none'), 'ERR_UNKNOWN_TASK');
    assert.throws(() => host.getBackgroundCommandStatus('none'), { code: 'ERR_UNKNOWN_TASK' });
    await refused(() => host.searchOutput('none', { pattern: '(' }), 'ERR_UNKNOWN_TASK');
  },

  'no runtime makes a number of anything else': async ({ host }) => {
    for (const timeoutMs of noTime) {
      await refused(() => host.startBackgroundCommand(ok, { timeoutMs }), 'ERR_BAD_OPTION', say(timeoutMs));
    }
    const { taskId } = await host.runCommand(ok);
    for (const offset of ['0', NaN, 1.5, 5n, true]) {
      const read = () => host.readBackgroundCommandOutput(taskId, { offset });
      await refused(read, 'ERR_BAD_OPTION', say(offset));
    }
  },

  'argv is an array of strings and nothing else': async ({ host }) => {
    for (const argv of noArgv) {
      await refused(() => host.startBackgroundCommand(argv), 'ERR_BAD_ARGV', say(argv));
    }
  },

  'frozen, cloned and proxied values are taken like plain ones, instances are not': async ({
    host,
    policy,
  }) => {
    const proxied = new Proxy({ ...policy }, {});
    for (const given of [Object.freeze({ ...policy }), structuredClone(policy), proxied]) {
      await host.setBackgroundCommandPolicy(given);
      for (const options of [Object.freeze({ timeoutMs: 9_000 }), structuredClone({ timeoutMs: 9_000 })]) {
        const status = await host.runCommand(Object.freeze([...ok]), options);
        assert.deepEqual([status.exitCode, status.timeoutMs], [0, 9_000]);
      }
    }
    class Options {
      timeoutMs = 9_000;
    }
    for (const options of [
      new Options(),
      new Map([['timeoutMs', 9_000]]),
      [],
      Object.create({ timeoutMs: 1 }),
    ]) {
      await refused(() => host.startBackgroundCommand(ok, options), 'ERR_BAD_OPTION');
    }
  },

  'a hook that throws, or says anything but true, refuses': async ({ host, policy }) => {
    const says = allowlist => host.setBackgroundCommandPolicy({ ...policy, allowlist });
    for (const word of [undefined, false, 1, {}]) {
      await says(async () => word);
      await refused(() => host.startBackgroundCommand(ok), 'ERR_VETOED', say(word));
    }
    await says(() => 'because of me');
    const verbatim = { code: 'ERR_VETOED', message: 'because of me' };
    await assert.rejects(host.startBackgroundCommand(ok), verbatim);
    await says(() => {
      throw new Error('not now');
    });
    await refused(() => host.startBackgroundCommand(ok), 'ERR_VETOED');
    await says((argv, cwd) => Array.isArray(argv) && argv[0] === 'sh' && typeof cwd === 'string');
    assert.equal((await host.runCommand(ok)).exitCode, 0);
  },
};
