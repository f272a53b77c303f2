import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { CEILING_MS, openHost, written } from '../helpers/host.mjs';

async function openTools(t, options) {
  const place = await openHost(t, { options });
  const { host } = place;
  await host.registerBackgroundCommandTools(host.getBackgroundCommandPolicy());
  const argv = ['sh', '-c', 'echo ready; sleep 60'];
  const start = async context => {
    const { taskId } = await host.executeTool('run_command_bg', { argv }, context);
    await written(host, taskId, 'ready');
    return taskId;
  };
  return { ...place, start };
}

test('without killOnAbort an abort leaves a started command alone, and with it the command is killed', async t => {
  const { host, start } = await openTools(t);
  const aborting = new AbortController();
  const context = { abortSignal: aborting.signal };
  const [left, plain, killed] = await Promise.all([
    start(context),
    start({ ...context, killOnAbort: false }),
    start({ ...context, killOnAbort: true }),
  ]);
  aborting.abort();
  const status = await host.awaitBackgroundCommand(killed);
  assert.deepEqual([status.state, status.cause], ['killed', 'abort']);
  for (const taskId of [left, plain]) assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
});

test('an abort during a wait kills the command that the call waits for, and not one that was looked at', async t => {
  const { host, start } = await openTools(t);
  const [waitedFor, lookedAt] = await Promise.all([start(), start()]);
  const aborting = new AbortController();
  const context = { abortSignal: aborting.signal, killOnAbort: true };
  await host.executeTool('command_status', { taskId: lookedAt }, context);
  const waiting = host.executeTool('command_status', { taskId: waitedFor, waitMs: CEILING_MS }, context);
  aborting.abort();
  assert.equal((await waiting).taskId, waitedFor);
  assert.equal((await host.awaitBackgroundCommand(waitedFor)).cause, 'abort');
  assert.equal(host.getBackgroundCommandStatus(lookedAt).state, 'running');
});

test("an abort never reaches another session's command", async t => {
  const { host, start } = await openTools(t, { isolateSessions: true });
  const taskId = await start({ sessionId: 'a' });
  const context = { sessionId: 'b', abortSignal: AbortSignal.abort(), killOnAbort: true };
  const result = await host.executeTool('command_status', { taskId, waitMs: CEILING_MS }, context);
  assert.equal(result.code, 'ERR_UNKNOWN_TASK');
  assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
});

test('a settled command leaves no listener on the signal', async t => {
  const { host } = await openTools(t);
  const { signal } = new AbortController();
  const context = { abortSignal: signal, killOnAbort: true };
  for (let i = 0; i < 3; i += 1) {
    const argv = ['sh', '-c', 'exit 0'];
    const { taskId } = await host.executeTool('run_command_bg', { argv }, context);
    await host.awaitBackgroundCommand(taskId);
  }
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('killOnAbort of a wrong kind is refused', async t => {
  const { host } = await openTools(t);
  const result = await host.executeTool('command_status', { taskId: 'x' }, { killOnAbort: 'yes' });
  assert.equal(result.code, 'ERR_BAD_OPTION');
});
