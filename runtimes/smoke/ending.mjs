import assert from 'node:assert/strict';
import { refused, written } from '../lib/cases.mjs';

const forever = ['sh', '-c', 'echo ready; exec sleep 600'];

async function started(host, options) {
  const { taskId } = await host.startBackgroundCommand(forever, options);
  await written(host, taskId, 'ready');
  return taskId;
}

export const endings = {
  'kill and killAll end commands': async ({ host }) => {
    const killed = await host.killBackgroundCommand(await started(host));
    assert.deepEqual([killed.state, killed.cause, killed.signal], ['killed', 'kill', 'SIGTERM']);
    const ids = [await started(host), await started(host)];
    assert.equal(await host.killAll(), 2);
    for (const id of ids) assert.equal(host.getBackgroundCommandStatus(id).cause, 'kill-all');
  },

  'budgets of time and output end commands': async ({ host }) => {
    const late = await host.runCommand(forever, { timeoutMs: 200 });
    assert.equal(late.state, 'timeout');
    const loud = await host.runCommand(['sh', '-c', 'while :; do echo loud; done'], {
      maxOutputBytes: 1_000,
    });
    assert.deepEqual([loud.state, loud.stdoutBytes], ['output-limit', 1_000]);
  },

  'an abort kills a run and only ends a wait': async ({ host }) => {
    const controller = new AbortController();
    const taskId = await started(host, { abortSignal: controller.signal });
    const wait = new AbortController();
    const waited = host.awaitBackgroundCommand(taskId, { abortSignal: wait.signal });
    wait.abort();
    assert.equal((await waited).state, 'running');
    assert.equal((await host.awaitBackgroundCommand(taskId, { timeoutMs: 20 })).state, 'running');
    controller.abort();
    controller.abort();
    assert.deepEqual((await host.awaitBackgroundCommand(taskId)).cause, 'abort');
  },

  'every kind of abort signal is one': async ({ host }) => {
    const timed = await host.runCommand(forever, { abortSignal: AbortSignal.timeout(100) });
    assert.equal(timed.cause, 'abort');
    const controller = new AbortController();
    const any = AbortSignal.any([controller.signal, new AbortController().signal]);
    const run = host.runCommand(forever, { abortSignal: any });
    controller.abort(new Error('a reason'));
    assert.ok(
      ['abort', 'ERR_ABORTED'].includes(
        await run.then(
          s => s.cause,
          e => e.code,
        ),
      ),
    );
  },

  'an abort during a start is a refusal or a kill': async ({ host }) => {
    for (let turns = 0; turns < 10; turns += 1) {
      const controller = new AbortController();
      const run = host.runCommand(forever, { abortSignal: controller.signal });
      for (let turn = 0; turn < turns; turn += 1) await new Promise(done => setTimeout(done, 0));
      controller.abort();
      assert.ok(
        ['abort', 'ERR_ABORTED'].includes(
          await run.then(
            s => s.cause,
            e => e.code,
          ),
        ),
      );
    }
    assert.equal(host.backgroundCommandCounts().running, 0);
  },

  'a loop over output that is left early leaves the command alone': async ({ host }) => {
    const taskId = await started(host);
    for await (const chunk of host.followOutput(taskId)) {
      assert.equal(chunk.toString(), 'ready\n');
      break;
    }
    assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
  },

  'dispose ends the commands and refuses starts': async ({ host }) => {
    const taskId = await started(host);
    await host.dispose();
    assert.equal(host.getBackgroundCommandStatus(taskId).state, 'killed');
    await refused(() => host.startBackgroundCommand(forever), 'ERR_DISPOSED');
    await host.dispose();
  },

  'Symbol.asyncDispose disposes': async ({ argvault, policy, vaultDir }) => {
    const host = new argvault.CommandHost({ vaultDir });
    await host.setBackgroundCommandPolicy(policy);
    const taskId = await started(host);
    await host[Symbol.asyncDispose]();
    assert.equal(host.getBackgroundCommandStatus(taskId).cause, 'kill-all');
  },
};
