// The differences that docs/migrating.md promises to an SDK that had a runner on `child_process`, in its order. What has a
// test of its own elsewhere isn't repeated here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { CommandHost } from 'argvault';
import { openHost, refused } from '../helpers/host.mjs';

const sh = script => ['sh', '-c', script];

test('setters are in force before they return, and a refused policy leaves the one before', async t => {
  const { host, root } = await openHost(t);
  const setting = host.setBackgroundCommandPolicy({ allowedExecutables: ['true'], cwdRoot: root });
  assert.equal((await host.runCommand(['true'])).exitCode, 0);
  assert.deepEqual(await setting, { warnings: [] });
  await refused(
    host.setBackgroundCommandPolicy({ allowedExecutables: 'sh', cwdRoot: root }),
    'ERR_BAD_POLICY',
  );
  assert.deepEqual(host.getBackgroundCommandPolicy().allowedExecutables, ['true']);
});

test('a hook that forgets to answer refuses, one that answers later is awaited, a string is the message', async t => {
  const { host, root } = await openHost(t);
  const answered = async allowlist => {
    await host.setBackgroundCommandPolicy({ allowedExecutables: ['true'], cwdRoot: root, allowlist });
    return host.runCommand(['true']);
  };
  for (const word of [undefined, false, {}, 1])
    await refused(
      answered(() => word),
      'ERR_VETOED',
    );
  await refused(
    answered(async () => undefined),
    'ERR_VETOED',
  );
  assert.equal((await answered(async () => true)).exitCode, 0);
  await assert.rejects(
    answered(() => 'use make'),
    { code: 'ERR_VETOED', message: 'use make' },
  );
});

test('the PATH of options.env is what the program sees, and does not decide which program it is', async t => {
  const { host, root } = await openHost(t);
  writeFileSync(path.join(root, 'sh'), '#!/bin/true\n', { mode: 0o755 });
  const status = await host.runCommand(sh('echo "$PATH"'), { env: { PATH: root } });
  assert.equal(await host.readArtifact(status.stdout.artifactId), `${root}\n`);
});

test('numbers are strict and unknown keys refused', async t => {
  const { host } = await openHost(t);
  for (const timeoutMs of [Number.NaN, 1.5, '500', 0, -1]) {
    await refused(host.startBackgroundCommand(['sh'], { timeoutMs }), 'ERR_BAD_OPTION', 'timeoutMs');
  }
  await refused(host.startBackgroundCommand(['sh'], { timeout: 5 }), 'ERR_BAD_OPTION', '"timeoutMs"');
});

test("a policy's own caps are ceilings of a start's", async t => {
  const { host } = await openHost(t, { policy: { maxOutputBytes: 1_000, maxTimeoutMs: 1_000 } });
  for (const options of [{ maxOutputBytes: 1_001 }, { timeoutMs: 1_001 }]) {
    await refused(host.startBackgroundCommand(['sh'], options), 'ERR_BUDGET');
  }
});

test('what no program can be given, or no argv[0] could equal, is refused before anything runs', async t => {
  const { host, root } = await openHost(t);
  for (const entry of ['a\0b', '\ud800'])
    await refused(host.runCommand(['sh', entry]), 'ERR_BAD_ARGV', 'argv[1]');
  await refused(host.runCommand(['sh', 'x'.repeat(131_072)]), 'ERR_ARGV_TOO_LONG', 'argv[1]');
  for (const policy of [{ allowedExecutables: ['npm test'] }, { allowedExecutable: ['sh'] }]) {
    const whole = { allowedExecutables: ['sh'], cwdRoot: root, ...policy };
    await refused(host.setBackgroundCommandPolicy(whole), 'ERR_BAD_POLICY');
  }
  assert.deepEqual((await host.listCommands()).commands, []);
});

test('an environment value that is no string is refused by name, undefined is left out', async t => {
  const { host } = await openHost(t);
  for (const value of [5, null]) {
    await refused(host.startBackgroundCommand(['sh'], { env: { A: value } }), 'ERR_BAD_ENV', '"A"');
  }
  const status = await host.runCommand(sh('echo "[$A]"'), { env: { A: undefined, PATH: process.env.PATH } });
  assert.equal(await host.readArtifact(status.stdout.artifactId), '[]\n');
});

test('a signal that was aborted before the start: nothing ran', async t => {
  const { host } = await openHost(t);
  const abortSignal = AbortSignal.abort();
  await refused(host.startBackgroundCommand(['sh'], { abortSignal }), 'ERR_ABORTED');
  assert.deepEqual((await host.listCommands()).commands, []);
});

test('a program that could not be started settles as before, with both streams banked', async t => {
  const { host } = await openHost(t, { policy: { allowedExecutables: ['no-such-program'] } });
  const { state, cause, exitCode, error, stdout, stderr } = await host.runCommand(['no-such-program']);
  assert.deepEqual([state, cause, exitCode], ['exited', 'start-failed', undefined]);
  assert.match(error, /could not be started/);
  for (const { artifactId } of [stdout, stderr]) assert.equal(await host.readArtifact(artifactId), '');
});

test('a process left behind with the output open does not hold up the settling', async t => {
  const { host } = await openHost(t, { policy: { strayGraceMs: 50 } });
  const status = await host.runCommand(sh('setsid sleep 300 & echo done'));
  assert.deepEqual([status.state, status.exitCode], ['exited', 0]);
  assert.ok(status.strays >= 1);
  assert.ok(status.strayNames.includes('sleep'), status.strayNames.join());
});

test('a kill answers settled, in the words of before', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.startBackgroundCommand(sh('sleep 300'));
  const status = await host.killBackgroundCommand(taskId);
  assert.deepEqual([status.state, status.cause, status.taskId], ['killed', 'kill', taskId]);
  assert.match(status.error, /was killed with SIGTERM/);
  assert.equal((await host.killBackgroundCommand(taskId)).settledAt, status.settledAt);
});

test('bytes are kept that are no text, under ids that follow from the task', async t => {
  const { host } = await openHost(t);
  const { taskId, stdout, stdoutBytes } = await host.runCommand(sh("printf 'a\\377b'"));
  assert.match(taskId, /^[0-9a-z]{26}$/);
  assert.equal(stdout.artifactId, `${taskId}-stdout`);
  assert.deepEqual([stdoutBytes, stdout.sizeBytes], [3, 3]);
  assert.deepEqual([...(await host.readArtifactBytes(stdout.artifactId))], [0x61, 0xff, 0x62]);
  assert.equal(await host.readArtifact(stdout.artifactId), 'a\ufffdb');
});

test('a page ends before a character that it would cut, and says where to go on', async t => {
  const { host } = await openHost(t);
  const { taskId } = await host.runCommand(sh("printf 'ab\\360\\237\\230\\200c'"));
  const page = await host.readBackgroundCommandOutput(taskId, { limit: 3 });
  assert.deepEqual([page.content, page.nextOffset, page.totalSize, page.hasMore], ['ab', 2, 5, true]);
});

test('another host on the same vault tells of what the first one ran', async t => {
  const { host, vaultDir } = await openHost(t);
  const { taskId } = await host.runCommand(sh('echo kept'));
  await host.dispose();
  const later = new CommandHost({ vaultDir });
  t.after(() => later.dispose());
  assert.equal(later.getBackgroundCommandStatus(taskId).tailPreview, '[stdout tail]\nkept\n');
});

test('counts without a session are of the whole host', async t => {
  const { host } = await openHost(t);
  for (const sessionId of ['a', 'b']) {
    const { taskId } = await host.startBackgroundCommand(sh('read -r _; true'), { sessionId });
    assert.ok(taskId);
  }
  const whole = () => {
    const { running, finished } = host.backgroundCommandCounts();
    return running + finished;
  };
  assert.equal(whole(), 2);
  const { running, finished } = host.backgroundCommandCounts('a');
  assert.equal(running + finished, 1);
});

test('what a model is told: counters, the budget that holds, a code, and null as absent', async t => {
  const { host, root } = await openHost(t);
  await host.registerBackgroundCommandTools({
    allowedExecutables: ['sh'],
    cwdRoot: root,
    defaultTimeoutMs: 5_000,
  });
  const started = await host.executeTool('run_command_bg', {
    argv: sh('echo hi'),
    cwd: null,
    timeoutMs: 999_999,
  });
  assert.deepEqual([started.timeoutMs, started.running + started.finished], [5_000, 1]);
  await host.awaitBackgroundCommand(started.taskId);
  const page = await host.executeTool('command_output', { taskId: started.taskId });
  assert.deepEqual([page.content, page.running, page.finished], ['hi\n', 0, 0]);
  const wrong = await host.executeTool('command_output', { taskId: started.taskId, streem: 'stdout' });
  assert.deepEqual([wrong.isError, wrong.code], [true, 'ERR_BAD_OPTION']);
});

test('git: blame at HEAD, no searches, no guessing of dates, refusals for what names nothing', async t => {
  const { host, root } = await openHost(t);
  const repo = path.join(root, 'repo');
  mkdirSync(repo);
  const git = (...args) => {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
    const { status, stderr } = spawnSync('git', [...who, ...args], { cwd: repo, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  git('init', '-q');
  writeFileSync(path.join(repo, 'file'), 'committed\n');
  git('add', 'file');
  git('commit', '-qm', 'first');
  writeFileSync(path.join(repo, 'file'), 'edited\n');
  const tools = await host.registerGitTools({ repoRoot: realpathSync(repo) });
  assert.ok(tools.some(({ name }) => name === 'git_blame'));

  const blame = await host.executeTool('git_blame', { path: 'file' });
  assert.match(blame.preview, /committed/);
  assert.doesNotMatch(blame.preview, /edited/);
  const codes = [
    ['git_log', { ref: ':/first' }, 'ERR_GIT_BAD_REVISION'],
    ['git_log', { ref: 'HEAD@{yesterday}' }, 'ERR_GIT_BAD_REVISION'],
    ['git_show', { ref: 'no-such-branch' }, 'ERR_GIT_BAD_REVISION'],
    ['git_log', { path: '../out' }, 'ERR_GIT_BAD_PATH'],
    ['git_log', { since: 'last tuesday' }, 'ERR_GIT_BAD_VALUE'],
    ['git_log', { maxCount: 0 }, 'ERR_BAD_OPTION'],
    ['git_log', { maxCount: 1.5 }, 'ERR_BAD_OPTION'],
  ];
  for (const [name, params, code] of codes) {
    const said = await host.executeTool(name, params);
    assert.deepEqual(
      [said.isError, said.code],
      [true, code],
      `${name} ${JSON.stringify(params)}: ${said.error}`,
    );
  }
  const own = await host.runGitCommand(['log', '--oneline']);
  assert.deepEqual([own.ok, own.exitCode, own.state], [true, 0, 'exited']);
  assert.ok(own.command[0].endsWith('git') && own.command.includes('--oneline'), own.command.join(' '));
  await assert.rejects(host.runGitCommand(['commit', '-m', 'x']), { code: 'ERR_GIT_BAD_VALUE' });
});
