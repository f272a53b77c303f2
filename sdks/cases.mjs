// What each adapter must do, the same for all. A case gets what a driver opened: `call` goes through the SDK, and
// answers with what the model then sees, `{ value }` or `{ error }`.
import assert from 'node:assert/strict';
import { CEILING_MS, eventually, isRunning } from './place.mjs';

const inShell = script => ['sh', '-c', script];

async function ok(answer) {
  const { value, error } = await answer;
  assert.equal(error, undefined);
  assert.equal(value.isError, undefined, JSON.stringify(value));
  return value;
}

/** Starts a command that runs on, and sees it running. */
async function running({ call, host }, options) {
  const { taskId } = await ok(call('run_command_bg', { argv: inShell('echo ready; sleep 60') }, options));
  const seen = async () => (await host.readBackgroundCommandOutput(taskId)).content === 'ready\n';
  await eventually(seen, 'the first line');
  return taskId;
}

async function settled({ call }, script) {
  const { taskId } = await ok(call('run_command_bg', { argv: inShell(script) }));
  const status = await ok(call('command_status', { taskId, waitMs: CEILING_MS }));
  assert.equal(status.state, 'exited');
  return { taskId, status };
}

/** Aborts the call once it has reached the host, and waits for both ends of it. */
async function abortedDuringItsWait({ call, source }, taskId) {
  const aborting = new AbortController();
  const before = source.calls.length;
  const answer = call('command_status', { taskId, waitMs: CEILING_MS }, { signal: aborting.signal });
  const ended = answer.then(
    () => 'ended',
    () => 'ended',
  );
  await eventually(() => source.calls.length > before, 'the call');
  const begun = performance.now();
  aborting.abort();
  await eventually(() => source.calls[before].result, 'the end of the wait');
  await ended;
  assert.ok(performance.now() - begun < CEILING_MS / 2, 'the wait went on');
}

export const cases = {
  async start({ call, source }) {
    const argv = inShell('exit 0');
    const started = await ok(call('run_command_bg', { argv }));
    assert.deepEqual([started.argv, started.running, typeof started.taskId], [argv, 1, 'string']);
    assert.deepEqual(
      source.calls.map(({ name, params }) => [name, params]),
      [['run_command_bg', { argv }]],
    );
  },

  async status(opened) {
    const { status } = await settled(opened, 'echo out; exit 3');
    assert.deepEqual(
      [status.exitCode, status.cause, status.tailPreview],
      [3, 'exit', '[stdout tail]\nout\n'],
    );
  },

  async page(opened) {
    const { taskId } = await settled(opened, 'printf "a\\360\\237\\246\\200b"');
    const page = await ok(opened.call('command_output', { taskId, limit: 2 }));
    assert.deepEqual([page.content, page.nextOffset, page.hasMore], ['a', 1, true], 'an emoji is never cut');
    const rest = await ok(opened.call('retrieve_context', { artifactId: `${taskId}-stdout`, offset: 1 }));
    assert.deepEqual([rest.content, rest.hasMore], ['\u{1f980}b', false]);
  },

  async search(opened) {
    const { taskId } = await settled(opened, 'printf "one\\ntwo\\n"');
    const found = await ok(opened.call('command_search', { taskId, pattern: '^t', before: 1 }));
    assert.deepEqual(found.matches, [{ line: 2, offset: 4, text: 'two', before: ['one'], after: [] }]);
  },

  async kill(opened) {
    const taskId = await running(opened);
    const killed = await ok(opened.call('command_kill', { taskId }));
    assert.deepEqual([killed.state, killed.cause], ['killed', 'kill']);
  },

  async refusal({ call }) {
    const { error } = await call('run_command_bg', { argv: ['rm', '-rf', '.'] });
    assert.match(error, /Executable "rm" is not allowed/);
  },

  async 'bad params'({ call, driver }) {
    const { error } = await call('command_status', { taskId: 5, task: 'x' });
    assert.match(
      error,
      driver.checksParams ? /did not match expected schema/ : /params has no option "task"/,
    );
    const kind = await call('command_status', { taskId: 5 });
    assert.match(kind.error, driver.checksParams ? /taskId.*string/s : /params\.taskId must be a string/);
  },

  async '`null` optionals'({ call }) {
    const argv = inShell('exit 0');
    const started = await ok(call('run_command_bg', { argv, cwd: null, timeoutMs: null }));
    const { taskId } = started;
    const status = await ok(call('command_status', { taskId, waitMs: null }));
    assert.equal(status.taskId, taskId);
    assert.equal((await ok(call('git_log', { ref: null, maxCount: 1, format: null }))).ok, true);
  },

  async abort(opened) {
    const { call, host } = opened;
    const taskId = await running(opened);
    await abortedDuringItsWait(opened, taskId);
    assert.ok(isRunning(host, taskId), 'a running command outlives an aborted call');

    const { commands } = await host.listCommands();
    const gone = AbortSignal.abort();
    // Some SDKs don't even make the call, some reject, some pass the refusal on: nothing runs.
    await call('run_command_bg', { argv: inShell('exit 0') }, { signal: gone }).catch(() => {});
    assert.equal((await host.listCommands()).commands.length, commands.length);
  },

  async git({ call }) {
    const log = await ok(call('git_log', { maxCount: 1 }));
    assert.equal(log.ok, true);
    assert.match(log.preview, /second commit\n$/);
    const { error } = await call('git_show', { ref: '--output=x' });
    assert.match(error, /must not start with "-"/);
  },
};

/** More than the ten: what goes wrong between an SDK and a host, rather than inside either. */
export const furtherCases = {
  async 'tools are told as the host tells them'({ described, host }) {
    const told = host
      .tools()
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const seen = (await described()).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    assert.deepEqual(JSON.parse(JSON.stringify(seen)), told);
  },

  async 'calls at the same time get their own answers'(opened) {
    const scripts = ['exit 1', 'exit 2', 'exit 3'];
    const all = await Promise.all(scripts.map(script => settled(opened, script)));
    assert.deepEqual(
      all.map(({ status }) => status.exitCode),
      [1, 2, 3],
    );
  },

  async 'params that are no object are refused, by the SDK or by the host, and nothing runs'({ call, host }) {
    for (const params of ['sh', ['sh'], 5, undefined]) {
      const answer = await call('run_command_bg', params).catch(error => ({ error: error.message }));
      assert.equal(typeof answer.error, 'string', JSON.stringify([params, answer]));
    }
    assert.deepEqual((await host.listCommands()).commands, []);
  },

  async 'five refusals in a row leave a tool usable'(opened) {
    for (let i = 0; i < 6; i += 1) await cases.refusal(opened);
    await settled(opened, 'exit 0');
  },

  async 'two equal starts start two commands'({ call }) {
    const params = { argv: inShell('exit 0') };
    const [first, second] = [
      await ok(call('run_command_bg', params)),
      await ok(call('run_command_bg', params)),
    ];
    assert.notEqual(first.taskId, second.taskId);
  },
};

/** With `killOnAbort: true`. */
export const killCases = {
  async 'an abort kills the command that a call waits for'(opened) {
    const taskId = await running(opened);
    await abortedDuringItsWait(opened, taskId);
    const { cause } = await opened.host.awaitBackgroundCommand(taskId);
    assert.equal(cause, 'abort');
  },

  async 'an abort kills what the call started, for as long as the signal is its own'(opened) {
    if (opened.driver.signalEndsWithTheCall) return;
    const aborting = new AbortController();
    const taskId = await running(opened, { signal: aborting.signal });
    aborting.abort();
    const { cause } = await opened.host.awaitBackgroundCommand(taskId);
    assert.equal(cause, 'abort');
  },
};
