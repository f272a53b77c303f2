import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { root as packageRoot } from '../helpers/child.mjs';
import { eventually, openHost } from '../helpers/host.mjs';

const cli = path.join(packageRoot, 'js', 'bin', 'argvault.js');
const run = args =>
  new Promise(resolve => {
    execFile(process.execPath, [cli, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

test('a confined command writes its own temporary directory and nothing else', async t => {
  const { host, root } = await openHost(t, { policy: { confinement: 'read-only' } });
  await writeFile(path.join(root, 'file'), 'text\n');
  const argv = [
    'sh',
    '-c',
    'cat file; echo y > "$TMPDIR/y" && cat "$TMPDIR/y"; echo x > new || echo refused',
  ];
  const status = await host.runCommand(argv);
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'text\ny\nrefused\n');
  assert.equal(status.confinement.level, 'required');
  assert.equal(status.confinement.write, 'enforced');
  assert.equal(status.confinement.execute, 'not-requested');
  assert.equal(status.tmpDir, undefined);
  const { confinement } = host.getBackgroundCommandPolicy();
  assert.deepEqual(confinement, {
    level: 'required',
    write: [],
    network: 'none',
    signals: 'own-tree',
    keepTmp: false,
  });
  await assert.rejects(host.runCommand(argv, { confinement: { write: ['.'] } }), { code: 'ERR_BUDGET' });
});

test('an allowed program starts no other one', async t => {
  const policy = { allowedExecutables: ['find'], confinement: { level: 'required', execute: 'allowed' } };
  const { host } = await openHost(t, { policy });
  const status = await host.runCommand(['find', '.', '-exec', '/bin/sh', '-c', 'id', ';']);
  assert.equal(status.stdoutBytes, 0);
  assert.match(status.tailPreview, /Permission denied/);
  assert.ok(status.confinement.executables.some(file => file.endsWith('/find')));
});

test('argvault doctor shows the ladder, and anything else its usage', async () => {
  const { code, stdout } = await run(['doctor', '--json']);
  assert.equal(code, 0, stdout);
  const names = JSON.parse(stdout).map(({ name }) => name);
  for (const name of ['platform', 'vault', 'cgroup v2', 'landlock', 'seccomp', 'confinement.execute']) {
    assert.ok(names.includes(name), name);
  }
  const plain = await run(['doctor']);
  assert.match(plain.stdout, /^ok {7}platform .*\n +commands can start$/m);
  const wrong = await run(['docter']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^usage: argvault doctor/);
});

test('an approval shows what the command would be held to', async t => {
  const asked = [];
  const policy = {
    allowedExecutables: ['true'],
    allowedCommands: [],
    approve: request => asked.push(request) > 0,
    confinement: { level: 'best-effort', execute: ['true'], write: ['.'], network: { connectTcp: [443] } },
  };
  const { host, root } = await openHost(t, { policy });
  await host.runCommand(['true']);
  const [{ confinement }] = asked;
  assert.equal(confinement.level, 'best-effort');
  assert.deepEqual(confinement.write, [await realpath(root)]);
  assert.deepEqual(confinement.network, { connectTcp: [443] });
  assert.equal(confinement.read, undefined);
  assert.ok(confinement.execute.some(file => file.endsWith('/true')));
  assert.deepEqual(Object.keys(confinement.enforced), [
    'execute',
    'read',
    'write',
    'network',
    'signals',
    'syscalls',
  ]);
  assert.throws(() => confinement.write.push('/'), TypeError);
});

test('the keeper of a confined command takes at most 200 KiB of memory of its own', async t => {
  const presets = [
    'workspace',
    { level: 'required', execute: ['sh'], read: ['.'], network: { connectTcp: [443] } },
  ];
  for (const confinement of presets) {
    const { host } = await openHost(t, { policy: { confinement } });
    const { taskId } = await host.startBackgroundCommand(['sh', '-c', 'echo $PPID; kill -STOP $$']);
    const keeper = await eventually(async () => {
      const { content } = await host.readBackgroundCommandOutput(taskId);
      return content.trim();
    }, 'the id of its keeper');
    const rollup = await readFile(`/proc/${keeper}/smaps_rollup`, 'utf8');
    const kib = Number(/^Anonymous: +(\d+) kB$/m.exec(rollup)[1]);
    assert.ok(kib > 0 && kib <= 200, `${kib} KiB`);
  }
});
