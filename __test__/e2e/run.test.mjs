import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openHost, written } from '../helpers/host.mjs';

const inShell = script => ['sh', '-c', script];

test('a command goes from start to the bytes of its artifacts', async t => {
  const { host, root, vaultDir } = await openHost(t);
  const argv = inShell("printf 'out\\377'; printf err >&2; exit 3");
  const handle = await host.startBackgroundCommand(argv);
  assert.deepEqual(handle.argv, argv);
  assert.ok(Math.abs(Date.now() - handle.startedAt) < 60_000);

  const status = await host.awaitBackgroundCommand(handle.taskId);
  const { state, cause, exitCode, signal, cwd, stdoutBytes, stderrBytes, strays } = status;
  assert.deepEqual(
    { state, cause, exitCode, signal, cwd, stdoutBytes, stderrBytes, strays },
    {
      state: 'exited',
      cause: 'exit',
      exitCode: 3,
      signal: undefined,
      cwd: root,
      stdoutBytes: 4,
      stderrBytes: 3,
      strays: 0,
    },
  );
  assert.ok(path.isAbsolute(status.executable));
  assert.equal(status.stdout.artifactId, `${handle.taskId}-stdout`);
  assert.equal(status.stdout.kind, 'command-output');
  assert.equal(status.stdout.sizeBytes, 4);
  assert.match(status.stdout.label, / \[stdout\]$/);
  assert.match(status.stdout.readBackHint, /retrieve_context/);
  assert.match(status.tailPreview, /\[stdout tail\].*\[stderr tail\]/s);

  const bytes = await host.readArtifactBytes(status.stdout.artifactId);
  assert.ok(Buffer.isBuffer(bytes));
  assert.deepEqual([...bytes], [0x6f, 0x75, 0x74, 0xff]);
  assert.equal(await host.readArtifact(status.stderr.artifactId), 'err');
  assert.deepEqual(await readFile(path.join(vaultDir, handle.taskId, 'stdout')), bytes);
  assert.deepEqual(host.getBackgroundCommandStatus(handle.taskId), status);
});

test('start answers before the command has finished, and its status can be polled to the end', async t => {
  const { host, root } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(
    inShell('echo ready; while ! [ -e go ]; do sleep 0.02; done'),
  );
  await written(host, taskId, 'ready');
  const running = host.getBackgroundCommandStatus(taskId);
  assert.equal(running.state, 'running');
  assert.equal(running.stdout, undefined);
  await host.runCommand(inShell('touch go'), { cwd: root });
  assert.equal((await host.awaitBackgroundCommand(taskId)).exitCode, 0);
});

test('a wait that is over answers as it stands and leaves the command alone', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(['sh', '-c', 'sleep 60']);
  assert.equal((await host.awaitBackgroundCommand(taskId, { timeoutMs: 20 })).state, 'running');
  assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
});

test('a program that is missing settles, and says that it could not be started', async t => {
  const { host } = await openHost(t, { policy: { allowedExecutables: ['/no/such/program'] } });
  const status = await host.runCommand(['/no/such/program']);
  assert.equal(status.state, 'exited');
  assert.equal(status.cause, 'start-failed');
  assert.equal(status.exitCode, undefined);
  assert.match(status.error, /could not be started/);
  assert.equal(await host.readArtifact(status.stdout.artifactId), '');
});

test('the program gets the environment and the input that it was given, and nothing else', async t => {
  const { host } = await openHost(t);
  const script = 'process.stdout.write(JSON.stringify([process.env, require("fs").readFileSync(0, "utf8")]))';
  const argv = [process.execPath, '-e', script];
  const status = await host.runCommand(argv, { env: { A: '1', B: undefined }, input: 'given ≤' });
  assert.deepEqual(JSON.parse(await host.readArtifact(status.stdout.artifactId)), [{ A: '1' }, 'given ≤']);
  const bare = await host.runCommand(argv, { env: {} });
  assert.deepEqual(JSON.parse(await host.readArtifact(bare.stdout.artifactId)), [{}, '']);
});

test('a timeout ends it and says which budget was exceeded', async t => {
  const { host } = await openHost(t);
  const status = await host.runCommand(inShell('echo kept; sleep 60'), { timeoutMs: 400 });
  assert.equal(status.state, 'timeout');
  assert.equal(status.cause, 'timeout');
  assert.match(status.error, /exceeded its 400ms budget/);
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'kept\n');
});

test('the output cap is exact: filling it is no overflow, one byte more is', async t => {
  const { host } = await openHost(t, { policy: { allowedExecutables: ['head', 'yes'] } });
  const exact = await host.runCommand(['head', '-c', '1000', '/dev/zero'], { maxOutputBytes: 1000 });
  assert.deepEqual([exact.state, exact.stdoutBytes], ['exited', 1000]);
  const over = await host.runCommand(['head', '-c', '1001', '/dev/zero'], { maxOutputBytes: 1000 });
  assert.deepEqual([over.cause, over.stdoutBytes], ['output-limit', 1000]);
  const flood = await host.runCommand(['yes'], { maxOutputBytes: 100_000 });
  assert.deepEqual([flood.state, flood.stdoutBytes], ['output-limit', 100_000]);
  assert.match(flood.error, /banked in full/);
});

test('fifty commands at once each keep their own output', async t => {
  const { host } = await openHost(t);
  const run = async i => {
    const status = await host.runCommand(inShell(`echo ${i}; echo ${i} >&2; exit ${i}`));
    assert.equal(status.exitCode, i);
    assert.equal(await host.readArtifact(status.stdout.artifactId), `${i}\n`);
    assert.equal(await host.readArtifact(status.stderr.artifactId), `${i}\n`);
    return status.taskId;
  };
  const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => run(i)));
  assert.equal(new Set(ids).size, 50);
});

test('pages walk through the output, and an unknown artifact is null', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.runCommand(inShell("printf 'ab😀cd'"));
  const pages = [];
  for (let offset = 0, more = true; more; ) {
    const page = await host.readBackgroundCommandOutput(taskId, { offset, limit: 3 });
    pages.push(page.content);
    ({ nextOffset: offset, hasMore: more } = page);
  }
  assert.deepEqual(pages, ['ab', '😀c', 'd']);
  const nothing = await host.readBackgroundCommandOutput(taskId, { stream: 'stderr', offset: 99 });
  assert.deepEqual([nothing.content, nothing.totalSize, nothing.hasMore], ['', 0, false]);
  for (const id of ['nosuch', '../etc/passwd', '']) assert.equal(await host.readArtifact(id), null);
  assert.equal(await host.readArtifactBytes('nosuch'), null);
});

test('the vault is for this user only', async t => {
  const { host, vaultDir } = await openHost(t);
  const { taskId } = await host.runCommand(inShell('echo x'));
  const mode = async (...parts) => (await stat(path.join(vaultDir, ...parts))).mode & 0o777;
  assert.equal(await mode(), 0o700);
  for (const name of ['command.json', 'record.json', 'stdout', 'stderr'])
    assert.equal(await mode(taskId, name), 0o600);
});

test('following gives the bytes and lines while it runs, and ends with it', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(
    inShell('echo one; while ! [ -e go ]; do sleep 0.02; done; echo two'),
  );
  const lines = [];
  for await (const line of host.followLines(taskId)) {
    if (lines.push(line) === 1) await host.runCommand(inShell('touch go'));
  }
  assert.deepEqual(lines, ['one', 'two']);
  const chunks = [];
  for await (const chunk of host.followOutput(taskId, { from: 4 })) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), 'two\n');
});

test('process.env itself is an environment to give', async t => {
  const { host } = await openHost(t);
  process.env.ARGVAULT_GIVEN = 'as it is now';
  t.after(() => delete process.env.ARGVAULT_GIVEN);
  const status = await host.runCommand(['sh', '-c', 'echo "$ARGVAULT_GIVEN"'], { env: process.env });
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'as it is now\n');
});
