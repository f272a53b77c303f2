import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { root } from '../helpers/child.mjs';
import { CEILING_MS, eventually, makePlace, openHost, written } from '../helpers/host.mjs';

const NAMES = [
  'run_command_bg',
  'command_status',
  'command_output',
  'command_kill',
  'command_search',
  'retrieve_context',
];
const inShell = script => ['sh', '-c', script];

/** A host with its tools registered, and a short way to call one that must not be refused. */
async function openTools(t, { policy, ...given } = {}) {
  const place = await openHost(t, { policy, ...given });
  const { host } = place;
  const whole = { ...host.getBackgroundCommandPolicy(), ...policy };
  const tools = await host.registerBackgroundCommandTools(whole);
  const call = async (name, params, context) => {
    const result = await host.executeTool(name, params, context);
    assert.equal(result.isError, undefined, result.error);
    return result;
  };
  const run = (script, context) => call('run_command_bg', { argv: inShell(script) }, context);
  const finish = taskId => call('command_status', { taskId, waitMs: CEILING_MS });
  return { ...place, policy: whole, tools, call, run, finish };
}

async function refused(promise, code, word) {
  const result = await promise;
  assert.deepEqual(Object.keys(result), ['isError', 'error', 'code'], JSON.stringify(result));
  assert.deepEqual([result.isError, result.code], [true, code], result.error);
  assert.ok(result.error.includes(word), `"${word}" in: ${result.error}`);
  return result;
}

test('a model runs a command, waits for it, reads, searches and retrieves what it wrote', async t => {
  const { call } = await openTools(t);
  const argv = inShell('printf "one\\ntwo\\nthree\\n"; echo oops >&2; exit 3');
  const started = await call('run_command_bg', { argv, cwd: null, timeoutMs: null });
  const { taskId, startedAt } = started;
  assert.deepEqual(started, { taskId, argv, startedAt, timeoutMs: 120_000, running: 1, finished: 0 });

  const status = await call('command_status', { taskId, waitMs: CEILING_MS });
  assert.deepEqual([status.state, status.exitCode, status.running, status.finished], ['exited', 3, 0, 0]);
  const page = await call('command_output', { taskId, limit: 4 });
  assert.deepEqual(
    [page.taskId, page.stream, page.content, page.nextOffset, page.hasMore, page.running],
    [taskId, 'stdout', 'one\n', 4, true, 0],
  );
  const rest = await call('command_output', { taskId, offset: page.nextOffset });
  assert.equal(rest.content, 'two\nthree\n');
  const found = await call('command_search', { taskId, pattern: '^t', after: 1 });
  assert.deepEqual(
    found.matches.map(({ line, offset, text, after }) => [line, offset, text, after]),
    [
      [2, 4, 'two', ['three']],
      [3, 8, 'three', []],
    ],
  );
  assert.deepEqual([found.truncated, found.running, found.finished], [false, 0, 0]);
  assert.deepEqual(await call('retrieve_context', { artifactId: status.stderr.artifactId, offset: 1 }), {
    artifactId: status.stderr.artifactId,
    content: 'ops\n',
    offset: 1,
    limit: 50_000,
    nextOffset: 5,
    totalSize: 5,
    hasMore: false,
  });
});

test('a model ends a command, and ending it again changes nothing', async t => {
  const { host, call, run } = await openTools(t);
  const { taskId } = await run('echo ready; sleep 60');
  await written(host, taskId, 'ready');
  const killed = await call('command_kill', { taskId });
  assert.deepEqual([killed.state, killed.cause, killed.running], ['killed', 'kill', 0]);
  const { settledAt } = await call('command_kill', { taskId });
  assert.equal(settledAt, killed.settledAt);
});

test('what a model may set narrows the budget, and everything else is refused', async t => {
  const { host, call } = await openTools(t, { policy: { defaultTimeoutMs: 5_000, maxTimeoutMs: 60_000 } });
  for (const [timeoutMs, granted] of [
    [undefined, 5_000],
    [40, 40],
    [60_001, 5_000],
    [1e9, 5_000],
  ]) {
    const started = await call('run_command_bg', { argv: inShell('exit 0'), timeoutMs });
    assert.equal(started.timeoutMs, granted);
    assert.equal(host.getBackgroundCommandStatus(started.taskId).timeoutMs, granted);
  }
  for (const key of ['env', 'maxOutputBytes', 'label', 'sessionId', 'input', 'abortSignal']) {
    const params = { argv: inShell('exit 0'), [key]: null };
    await refused(host.executeTool('run_command_bg', params), 'ERR_BAD_OPTION', `"${key}"`);
  }
});

test('a wait above the cap is lowered to it, and the schema says so', async t => {
  const { tools, run, call } = await openTools(t);
  const status = tools.find(({ name }) => name === 'command_status');
  assert.equal(status.inputSchema.properties.waitMs.maximum, 30_000);
  const { taskId } = await run('exit 0');
  const settled = await call('command_status', { taskId, waitMs: Number.MAX_SAFE_INTEGER });
  assert.equal(settled.state, 'exited');
});

test('counters are of the session that asks: its own, else the one of the tool context', async t => {
  const { host, call, run } = await openTools(t);
  host.setToolContext({ sessionId: 'a' });
  const slow = await run('sleep 60');
  assert.deepEqual([slow.running, slow.finished], [1, 0]);
  const other = await run('exit 0', { sessionId: 'b' });
  assert.deepEqual([other.running, other.finished], [1, 0]);
  assert.equal(host.getBackgroundCommandStatus(slow.taskId).sessionId, 'a');
  const plain = await host.startBackgroundCommand(inShell('exit 0'));
  assert.equal(host.getBackgroundCommandStatus(plain.taskId).sessionId, 'a', 'a start is of it, too');
  const own = await host.startBackgroundCommand(inShell('exit 0'), { sessionId: 'c' });
  assert.equal(host.getBackgroundCommandStatus(own.taskId).sessionId, 'c');

  await eventually(() => host.backgroundCommandCounts('b').finished === 1, 'the end in session b');
  const seen = await call('command_status', { taskId: slow.taskId }, { sessionId: 'b' });
  assert.deepEqual([seen.running, seen.finished], [0, 1]);
  const looked = await call('command_output', { taskId: other.taskId }, { sessionId: 'b' });
  assert.deepEqual([looked.running, looked.finished], [0, 0]);
  host.setToolContext({});
  const nobody = await call('command_status', { taskId: slow.taskId });
  assert.deepEqual([nobody.running, nobody.finished], [0, 0]);
  assert.throws(() => host.setToolContext({ sessionID: 'a' }), { code: 'ERR_BAD_OPTION' });
  assert.throws(() => host.setToolContext({ sessionId: 5 }), { code: 'ERR_BAD_OPTION' });
});

test('isolated sessions do not see each other; without isolation they do', async t => {
  for (const isolateSessions of [true, false]) {
    const { host, run, finish } = await openTools(t, { options: { isolateSessions } });
    const { taskId } = await run('echo secret', { sessionId: 'a' });
    await host.awaitBackgroundCommand(taskId);
    const artifactId = `${taskId}-stdout`;
    const calls = [
      ['command_status', { taskId }],
      ['command_output', { taskId }],
      ['command_search', { taskId, pattern: 'secret' }],
      ['command_kill', { taskId }],
      ['retrieve_context', { artifactId }],
    ];
    for (const [name, params] of calls) {
      const unknown = name === 'retrieve_context' ? 'ERR_UNKNOWN_ARTIFACT' : 'ERR_UNKNOWN_TASK';
      for (const context of [{ sessionId: 'b' }, undefined]) {
        const result = await host.executeTool(name, params, context);
        assert.equal(result.code, isolateSessions ? unknown : undefined, `${name}: ${result.error}`);
      }
      assert.equal((await host.executeTool(name, params, { sessionId: 'a' })).isError, undefined, name);
    }
    if (!isolateSessions) await finish(taskId);
  }
});

test('registration is idempotent, in force before its call returns, and a refused policy registers nothing', async t => {
  const { host, root: cwdRoot } = await openHost(t);
  assert.deepEqual(host.tools(), []);
  await assert.rejects(host.registerBackgroundCommandTools({ cwdRoot }), { code: 'ERR_BAD_POLICY' });
  assert.deepEqual(host.tools(), []);
  await refused(
    host.executeTool('command_status', {}),
    'ERR_UNKNOWN_TOOL',
    'registerBackgroundCommandTools(policy)',
  );

  const registering = host.registerBackgroundCommandTools({ allowedExecutables: ['sh'], cwdRoot });
  assert.deepEqual(
    host.tools().map(({ name }) => name),
    NAMES,
  );
  assert.deepEqual(host.getBackgroundCommandPolicy().allowedExecutables, ['sh']);
  await registering;
  const again = await host.registerBackgroundCommandTools({ allowedExecutables: ['ls'], cwdRoot });
  assert.deepEqual(
    again.map(({ name }) => name),
    NAMES,
  );
  assert.deepEqual(host.getBackgroundCommandPolicy().allowedExecutables, ['ls']);
});

test('a tool is what the reviewed snapshot says, and executes by itself', async t => {
  const { tools } = await openTools(t);
  const reviewed = JSON.parse(readFileSync(`${root}/schema/tools.json`, 'utf8'));
  const told = tools.map(({ execute, ...rest }) => rest);
  assert.deepEqual(told, reviewed.slice(0, told.length));
  const { execute } = tools[0];
  const started = await execute({ argv: inShell('exit 0') }, { sessionId: 'x' });
  assert.equal(started.running, 1);
});

test('refusals are values: unknown tools and keys, wrong types, and what cannot even be read', async t => {
  const { host } = await openTools(t);
  const call = (...args) => host.executeTool(...args);
  await refused(call('command_stats', {}), 'ERR_UNKNOWN_TOOL', 'Did you mean "command_status"?');
  await refused(call(undefined, {}), 'ERR_UNKNOWN_TOOL', 'undefined');
  await refused(call('command_status', { task: 'x' }), 'ERR_BAD_OPTION', 'params has no option "task"');
  await refused(call('command_status', { taskId: 5 }), 'ERR_BAD_OPTION', 'params.taskId must be a string');
  await refused(call('command_status'), 'ERR_BAD_OPTION', 'params.taskId is required');
  await refused(call('command_status', '{"taskId":"x"}'), 'ERR_BAD_OPTION', 'params must be an object');
  await refused(call('run_command_bg', { argv: 'npm test' }), 'ERR_BAD_ARGV', 'argv');
  await refused(call('run_command_bg', { argv: ['rm'] }), 'ERR_EXECUTABLE_NOT_ALLOWED', 'Executable "rm"');
  const bad = { abortSignal: {} };
  await refused(call('command_status', { taskId: 'x' }, bad), 'ERR_BAD_OPTION', 'must be an AbortSignal');
  const hostile = {
    get taskId() {
      throw new Error('no');
    },
  };
  const result = await call('command_status', hostile);
  assert.equal(result.isError, true);
  await host.dispose();
  await refused(call('run_command_bg', { argv: ['sh'] }), 'ERR_DISPOSED', 'disposed');
});

test('one approval is asked once for equal calls, and starts one command that all of them get', async t => {
  let asked = 0;
  let decide;
  const events = [];
  // The questions come in either order.
  const approve = ({ sessionId }) => {
    asked += 1;
    return new Promise(resolve => {
      if (sessionId === 'other') decide = resolve;
    });
  };
  const listeners = { onStarted: () => events.push('started'), onRefused: () => events.push('refused') };
  const { host } = await openTools(t, { policy: { allowedCommands: [], approve }, options: listeners });
  const params = { argv: inShell('exit 0'), cwd: '.' };
  const first = host.executeTool('run_command_bg', params);
  const second = host.executeTool('run_command_bg', { ...params, cwd: null });
  const elsewhere = host.executeTool('run_command_bg', params, { sessionId: 'other' });
  await eventually(() => asked === 2, 'two questions');
  decide('not for you');
  await refused(elsewhere, 'ERR_APPROVAL_DENIED', 'not for you');
  assert.deepEqual(events, ['refused']);
  const dispose = host.dispose();
  for (const waiting of [first, second]) await refused(waiting, 'ERR_DISPOSED', 'disposed');
  await dispose;
});

test('an approved command is started once, for every call that waits', async t => {
  const started = [];
  let open;
  const gate = new Promise(resolve => (open = resolve));
  const approve = () => gate;
  const { host, finish } = await openTools(t, {
    policy: { allowedCommands: [], approve, allowlist: () => true },
    options: { onStarted: ({ taskId }) => started.push(taskId) },
  });
  const call = () => host.executeTool('run_command_bg', { argv: inShell('exit 0') });
  const calls = [call(), call(), call()];
  await new Promise(setImmediate);
  open(true);
  const handles = await Promise.all(calls);
  assert.deepEqual(new Set(handles.map(({ taskId }) => taskId)), new Set(started));
  assert.equal(started.length, 1, JSON.stringify(handles));
  assert.equal(handles[0].timeoutMs, 120_000);
  assert.equal((await finish(started[0])).state, 'exited');
});

test('an abort ends the wait or a start that is not made, never a command that runs', async t => {
  let asked = 0;
  const approve = () => {
    asked += 1;
    return new Promise(() => {});
  };
  const policy = { allowedCommands: [['sh', '-c', 'sleep 60']], approve };
  const { host, run, call } = await openTools(t, { policy });
  const controller = new AbortController();
  const abortSignal = controller.signal;
  const { taskId } = await run('sleep 60', { abortSignal });
  const waiting = host.executeTool('command_status', { taskId, waitMs: 30_000 }, { abortSignal });
  const pending = host.executeTool('run_command_bg', { argv: inShell('exit 0') }, { abortSignal });
  await eventually(() => asked === 1, 'the question');
  controller.abort();
  assert.equal((await waiting).state, 'running');
  await refused(pending, 'ERR_ABORTED', 'before anything ran');
  assert.equal(getEventListeners(abortSignal, 'abort').length, 0);
  assert.equal((await call('command_status', { taskId })).state, 'running');
  await refused(
    host.executeTool('run_command_bg', { argv: inShell('sleep 60') }, { abortSignal }),
    'ERR_ABORTED',
    'before anything ran',
  );
});

test('the module has the same tools on its default host', async t => {
  const { root: cwdRoot, vaultDir } = await makePlace(t);
  const argvault = await import('argvault');
  await argvault.configureDefaultHost({ vaultDir });
  t.after(() => argvault.dispose());
  const policy = { allowedExecutables: ['sh'], cwdRoot };
  const [tool] = await argvault.registerBackgroundCommandTools(policy);
  const { taskId } = await tool.execute({ argv: inShell('exit 0') });
  assert.equal((await argvault.executeTool('command_status', { taskId, waitMs: 30_000 })).state, 'exited');
  await argvault.dispose();
  await refused(tool.execute({ argv: inShell('exit 0') }), 'ERR_DISPOSED', 'disposed');
  await argvault.registerBackgroundCommandTools(policy);
  assert.equal((await tool.execute({ argv: inShell('exit 0') })).isError, undefined);
});
