import assert from 'node:assert/strict';
import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { CommandHost } from 'argvault';
import { runScript } from '../helpers/child.mjs';
import { eventually, openHost, refused, written } from '../helpers/host.mjs';

const forever = ['sh', '-c', 'echo ready; exec sleep 600'];
const twoSteps = ['sh', '-c', 'echo one; while [ ! -e go ]; do sleep 0.01; done; printf "two\\nthree"'];

/** A command that goes on once `go` is called. */
async function stepwise(t) {
  const { host, root } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(twoSteps);
  const go = () => host.runCommand(['sh', '-c', 'touch go'], { cwd: root });
  return { host, taskId, go };
}

async function descriptors(what) {
  const fds = await readdir('/proc/self/fd');
  const targets = await Promise.all(fds.map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter(target => target.includes(what)).length;
}

test('followOutput brings bytes as they are written and ends with the command', async t => {
  const { host, taskId, go } = await stepwise(t);
  const seen = [];
  for await (const chunk of host.followOutput(taskId)) {
    assert.ok(Buffer.isBuffer(chunk));
    if (seen.push(String(chunk)) === 1) await go();
  }
  assert.equal(seen.join(''), 'one\ntwo\nthree');
  assert.equal(seen[0], 'one\n');
  const again = [];
  for await (const chunk of host.followOutput(taskId, { from: 4 })) again.push(chunk);
  assert.equal(Buffer.concat(again).toString(), 'two\nthree');
});

test('followLines brings lines, the unfinished last one too', async t => {
  const { host, taskId, go } = await stepwise(t);
  const lines = [];
  for await (const line of host.followLines(taskId)) if (lines.push(line) === 1) await go();
  assert.deepEqual(lines, ['one', 'two', 'three']);
});

test('a hundred followers share one inotify descriptor, and leaving frees everything', async t => {
  const { host, vaultDir } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(forever);
  await written(host, taskId, 'ready');
  const followers = Array.from({ length: 100 }, () => host.followOutput(taskId));
  for (const follower of followers) assert.equal(String((await follower.next()).value), 'ready\n');
  const waiting = followers.map(follower => follower.next());
  assert.equal(await descriptors('inotify'), 1);
  await Promise.all(followers.map(follower => follower.return()));
  for (const { done } of await Promise.all(waiting)) assert.equal(done, true);
  await eventually(async () => (await descriptors('inotify')) === 0, 'inotify closed');
  await eventually(async () => (await descriptors(path.join(vaultDir, taskId))) === 0, 'files closed');
});

test('an unknown command can not be followed', async t => {
  const { host } = await openHost(t);
  await refused(host.followOutput('x').next(), 'ERR_UNKNOWN_TASK', 'No background command "x"');
  await refused(host.followOutput('x', { from: -1 }).next(), 'ERR_UNKNOWN_TASK');
  const { taskId } = await host.startBackgroundCommand(forever);
  await refused(host.followOutput(taskId, { from: -1 }).next(), 'ERR_BAD_OPTION', 'from');
});

test('output is searched, and a match leads to its page', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.runCommand(['sh', '-c', 'echo "≤ one"; echo "error: two"; echo three']);
  const { matches, truncated } = await host.searchOutput(taskId, { pattern: '^error', before: 1, after: 1 });
  assert.deepEqual(matches, [
    { line: 2, offset: 6, text: 'error: two', before: ['≤ one'], after: ['three'] },
  ]);
  assert.equal(truncated, false);
  const { content } = await host.readBackgroundCommandOutput(taskId, { offset: 6, limit: 5 });
  assert.equal(content, 'error');
  assert.equal((await host.searchOutput(taskId, { pattern: '.', maxMatches: 1 })).truncated, true);
  await refused(host.searchOutput(taskId, { pattern: '(' }), 'ERR_BAD_PATTERN');
  await refused(
    host.searchOutput(taskId, { pattern: 'x', ignorecase: true }),
    'ERR_BAD_OPTION',
    'ignoreCase',
  );
  await refused(host.searchOutput(taskId), 'ERR_BAD_OPTION', 'pattern');
  await refused(host.searchOutput('x', { pattern: 'x' }), 'ERR_UNKNOWN_TASK', 'No background command "x"');
});

test('output is read by lines', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.runCommand(['sh', '-c', 'printf "a\\nb\\nc"']);
  const page = await host.readBackgroundCommandOutput(taskId, { line: 2 });
  assert.deepEqual(page, {
    taskId,
    stream: 'stdout',
    content: '2\tb\n3\tc',
    line: 2,
    lines: 2,
    offset: 2,
    nextLine: 4,
    nextOffset: 5,
    cut: false,
    totalLines: 3,
    totalSize: 5,
    hasMore: false,
  });
  await refused(
    host.readBackgroundCommandOutput(taskId, { line: 1, limit: 5 }),
    'ERR_BAD_OPTION',
    'offset',
    'lines',
  );
});

test('text and bytes are banked and read back', async t => {
  const { host } = await openHost(t);
  const about = { kind: 'note', label: 'a note' };
  const text = await host.bankArtifact('alpha 😀 omega', { ...about, previewChars: 6 });
  assert.deepEqual(text, {
    artifactId: text.artifactId,
    label: 'a note',
    kind: 'note',
    sizeBytes: 16,
    preview: 'alpha…',
    readBackHint: text.readBackHint,
  });
  assert.ok(text.readBackHint.includes(text.artifactId));
  assert.match(text.artifactId, /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/);
  assert.equal(await host.readArtifact(text.artifactId), 'alpha 😀 omega');
  const bytes = Buffer.from([0, 255, 128]);
  const { artifactId } = await host.bankArtifact(bytes, about);
  assert.deepEqual(await host.readArtifactBytes(artifactId), bytes);
  await refused(host.bankArtifact(5, about), 'ERR_BAD_OPTION', 'content');
  await refused(host.bankArtifact('x', { kind: 'note' }), 'ERR_BAD_OPTION', 'label');
  await refused(host.bankArtifact('\ud800', about), 'ERR_BAD_OPTION', 'surrogate');
  assert.equal(await host.readArtifact('0'.repeat(26)), null);
});

test('commands are listed by pages and cleaned up, the live ones left', async t => {
  const { host } = await openHost(t);
  const live = await host.startBackgroundCommand(forever, { sessionId: 's' });
  for (let n = 0; n < 3; n += 1) await host.runCommand(['sh', '-c', 'echo x']);
  const first = await host.listCommands({ limit: 3 });
  const second = await host.listCommands({ limit: 3, cursor: first.nextCursor });
  assert.deepEqual([first.commands.length, second.commands.length, second.nextCursor], [3, 1, undefined]);
  assert.deepEqual(
    (await host.listCommands({ sessionId: 's', state: 'live' })).commands.map(({ taskId }) => taskId),
    [live.taskId],
  );
  await refused(host.listCommands({ state: 'gone' }), 'ERR_BAD_OPTION', 'state');
  assert.deepEqual(await host.cleanup(), { removed: 0, freedBytes: 0 });
  const { removed, freedBytes } = await host.cleanup({ maxBytes: 0 });
  assert.ok(removed === 3 && freedBytes > 0);
  assert.equal((await host.listCommands()).commands.length, 1);
});

test('a vault above its bound refuses starts until it is cleaned up', async t => {
  const { host } = await openHost(t, { options: { maxVaultBytes: 500_000 } });
  await host.runCommand(['sh', '-c', 'head -c 600000 /dev/zero']);
  await refused(host.startBackgroundCommand(forever), 'ERR_VAULT_FULL', 'maxVaultBytes', 'cleanup');
  await host.cleanup({ maxBytes: 100_000 });
  assert.equal((await host.runCommand(['sh', '-c', 'true'])).exitCode, 0);
});

test('a second process reads, follows, awaits and ends the commands of the first', async t => {
  const { host, vaultDir } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(forever);
  const { taskId: over } = await host.runCommand(['sh', '-c', 'echo over']);
  await written(host, taskId, 'ready');
  const source = `
    const { CommandHost } = require('./index.js');
    const host = new CommandHost({ vaultDir: process.argv[1] });
    const [, , running, over] = process.argv;
    (async () => {
      const followed = [];
      const following = (async () => {
        for await (const line of host.followLines(running)) followed.push(line);
      })();
      const before = host.getBackgroundCommandStatus(running).state;
      const waited = (await host.awaitBackgroundCommand(running, { timeoutMs: 1 })).state;
      const waiting = host.awaitBackgroundCommand(running);
      const killed = await host.killBackgroundCommand(running);
      await following;
      console.log(JSON.stringify({
        before, waited, followed, killed: killed.cause, same: (await waiting).taskId === running,
        over: await host.readArtifact(over + '-stdout'),
        listed: (await host.listCommands()).commands.length,
      }));
    })();`;
  const child = await runScript(source, { args: [vaultDir, taskId, over] });
  assert.equal(child.code, 0, child.stderr);
  assert.deepEqual(JSON.parse(child.stdout), {
    before: 'running',
    waited: 'running',
    followed: ['ready'],
    killed: 'kill',
    same: true,
    over: 'over\n',
    listed: 2,
  });
  assert.equal((await host.awaitBackgroundCommand(taskId)).cause, 'kill');
});

test('what a process that was killed left is told, read and removed by the next', async t => {
  const { root, vaultDir } = await openHost(t);
  const source = `
    const { CommandHost } = require('./index.js');
    const [, vaultDir, root] = process.argv;
    (async () => {
      const host = new CommandHost({ vaultDir });
      await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: root });
      const { taskId } = await host.startBackgroundCommand(['sh', '-c', 'echo ready; exec sleep 600']);
      for await (const line of host.followLines(taskId)) break;
      require('fs').writeSync(1, taskId);
      process.kill(process.pid, 'SIGKILL');
    })();`;
  const { stdout: taskId, signal } = await runScript(source, { args: [vaultDir, root] });
  assert.equal(signal, 'SIGKILL');
  const host = new CommandHost({ vaultDir });
  t.after(() => host.dispose());
  const status = await host.awaitBackgroundCommand(taskId);
  assert.deepEqual([status.state, status.cause, status.stdoutBytes], ['killed', 'host-gone', 6]);
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'ready\n');
  assert.equal((await host.cleanup({ maxBytes: 0 })).removed, 1);
});

test('a worker thread that ends takes its followers along', async t => {
  const { host, vaultDir } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(forever);
  await written(host, taskId, 'ready');
  const source = `
    const { Worker } = require('worker_threads');
    const worker = new Worker(\`
      const { parentPort, workerData } = require('worker_threads');
      const { CommandHost } = require(workerData.root + '/index.js');
      const host = new CommandHost({ vaultDir: workerData.vaultDir });
      (async () => {
        for await (const line of host.followLines(workerData.taskId)) parentPort.postMessage(line);
      })();
    \`, { eval: true, workerData: { root: process.cwd(), vaultDir: process.argv[1], taskId: process.argv[2] } });
    worker.once('message', async line => {
      await worker.terminate();
      const fs = require('fs');
      const open = () => fs.readdirSync('/proc/self/fd').filter(fd => {
        try { return fs.readlinkSync('/proc/self/fd/' + fd).includes('inotify'); } catch { return false; }
      }).length;
      const end = Date.now() + 15000;
      while (open() > 0 && Date.now() < end) await new Promise(done => setTimeout(done, 5));
      console.log(line + ' ' + open());
    });`;
  const child = await runScript(source, { args: [vaultDir, taskId] });
  assert.equal(child.stdout, 'ready 0\n', child.stderr);
});
