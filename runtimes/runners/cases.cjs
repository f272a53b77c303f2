'use strict';

// What a user's test does with the package, for every test runner. CommonJS, so that each of them loads it in the realm
// of its tests: what is passed in and compared here is of that realm.
const assert = require('node:assert/strict');
const { mkdirSync, mkdtempSync, realpathSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const forever = ['sh', '-c', 'echo ready; exec sleep 600'];

/** Runs `use` with a host of its own, and disposes of it whatever happens. */
async function withHost(argvault, use, options) {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'argvault-runner-')));
  const root = path.join(dir, 'root');
  mkdirSync(root);
  const host = new argvault.CommandHost({ vaultDir: path.join(dir, 'vault'), ...options });
  try {
    await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: root });
    await use(host, root);
  } finally {
    await host.dispose();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {object} argvault as the runner's own `import` or `require` gives it */
const cases = argvault => ({
  'results are plain values of this realm': () =>
    withHost(argvault, async host => {
      const argv = ['sh', '-c', 'echo hi; exit 3'];
      const handle = await host.startBackgroundCommand(argv);
      assert.deepStrictEqual(handle, { taskId: handle.taskId, argv, startedAt: handle.startedAt });
      const status = await host.awaitBackgroundCommand(handle.taskId);
      // biome-ignore lint/suspicious/useIsArray: what `isArray` knows in every realm, `instanceof` knows in one
      assert.ok(status instanceof Object && status.argv instanceof Array);
      assert.deepStrictEqual(status, JSON.parse(JSON.stringify(status)));
      // The runner's own clone may be of another realm.
      assert.deepEqual(JSON.stringify(structuredClone(status)), JSON.stringify(status));
      assert.deepStrictEqual([status.state, status.exitCode], ['exited', 3]);
      assert.deepStrictEqual(argvault.isSupported(), { ok: true });
      const bytes = await host.readArtifactBytes(status.stdout.artifactId);
      assert.ok(Buffer.isBuffer(bytes) && bytes instanceof Uint8Array);
      assert.deepStrictEqual(bytes, Buffer.from('hi\n'));
    }),

  'values of this realm are taken': () =>
    withHost(argvault, async (host, root) => {
      const allowed = [];
      await host.setBackgroundCommandPolicy({
        allowedExecutables: Array.of('sh'),
        cwdRoot: root,
        allowlist: argv => allowed.push(argv) > 0,
      });
      const options = { input: new TextEncoder().encode('bytes'), env: { PATH: process.env.PATH } };
      const status = await host.runCommand(['sh', '-c', 'cat'], options);
      assert.equal(await host.readArtifact(status.stdout.artifactId), 'bytes');
      assert.deepStrictEqual(allowed, [['sh', '-c', 'cat']]);
    }),

  'refusals are errors of this realm, with their codes': () =>
    withHost(argvault, async host => {
      const error = await host.startBackgroundCommand(['rm']).catch(reason => reason);
      assert.ok(error instanceof Error && error instanceof argvault.ArgvaultError);
      assert.ok(argvault.isArgvaultError(error) && error.details instanceof Object);
      await assert.rejects(host.startBackgroundCommand(['sh'], { nope: 1 }), { code: 'ERR_BAD_OPTION' });
    }),

  'what a test sets in process.env reaches its commands': () =>
    withHost(argvault, async host => {
      process.env.ARGVAULT_RUNNER = 'set by a test';
      try {
        for (const options of [undefined, { env: process.env }, { env: { ...process.env } }]) {
          const { stdout } = await host.runCommand(['sh', '-c', 'echo "$ARGVAULT_RUNNER"'], options);
          assert.equal(await host.readArtifact(stdout.artifactId), 'set by a test\n');
        }
      } finally {
        delete process.env.ARGVAULT_RUNNER;
      }
    }),

  'abort signals of this realm abort': () =>
    withHost(argvault, async host => {
      const controller = new AbortController();
      const { taskId } = await host.startBackgroundCommand(forever, { abortSignal: controller.signal });
      for await (const line of host.followLines(taskId)) if (line === 'ready') break;
      controller.abort();
      assert.equal((await host.awaitBackgroundCommand(taskId)).cause, 'abort');
      const late = await host.runCommand(forever, { abortSignal: AbortSignal.timeout(50) });
      assert.equal(late.cause, 'abort');
    }),

  'listeners hear, and a loop over output ends': async () => {
    const heard = [];
    const settled = Promise.withResolvers?.() ?? {};
    settled.promise ??= new Promise(resolve => {
      settled.resolve = resolve;
    });
    const onSettled = ({ exitCode }) => settled.resolve(exitCode);
    const listening = { onStarted: ({ argv }) => heard.push(argv), onSettled };
    await withHost(
      argvault,
      async host => {
        const { taskId } = await host.startBackgroundCommand(['sh', '-c', 'echo a; echo b']);
        const lines = [];
        for await (const line of host.followLines(taskId)) lines.push(line);
        assert.deepStrictEqual(lines, ['a', 'b']);
        assert.equal(await settled.promise, 0);
        assert.deepStrictEqual(heard, [['sh', '-c', 'echo a; echo b']]);
      },
      listening,
    );
  },

  'disposing ends what a test left running': () =>
    withHost(argvault, async host => {
      const { taskId } = await host.startBackgroundCommand(forever);
      await host.dispose();
      assert.equal(host.getBackgroundCommandStatus(taskId).cause, 'kill-all');
    }),
});

/** Two copies of the package in one process, as after a reset of the module registry. */
const copies = (one, other) => ({
  'two copies of the package work side by side': async () => {
    assert.notEqual(one.CommandHost, other.CommandHost);
    await withHost(one, host =>
      withHost(other, async second => {
        const error = await second.startBackgroundCommand(['rm']).catch(reason => reason);
        assert.ok(one.isArgvaultError(error) && error instanceof one.ArgvaultError);
        const runs = [host, second, host].map(each => each.runCommand(['sh', '-c', 'exit 4']));
        assert.deepStrictEqual(
          (await Promise.all(runs)).map(({ exitCode }) => exitCode),
          [4, 4, 4],
        );
      }),
    );
  },
});

module.exports = { cases, copies };
