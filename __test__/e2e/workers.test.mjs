// Worker threads: one that ends takes its own commands along and nobody else's, whatever it was doing.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { root } from '../helpers/child.mjs';
import { eventually, openBelow, openHost, processesWith } from '../helpers/host.mjs';

// A worker that starts three commands, says so, and then waits for them.
const source = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { CommandHost } = require(workerData.argvault);
  (async () => {
    const host = new CommandHost({ vaultDir: workerData.vaultDir });
    await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/', killGraceMs: 100 });
    const argv = ['sh', '-c', 'sleep 600; : ' + workerData.mark];
    const handles = await Promise.all([1, 2, 3].map(() => host.startBackgroundCommand(argv)));
    parentPort.postMessage(handles.map(({ taskId }) => taskId));
    await Promise.all(handles.map(({ taskId }) => host.awaitBackgroundCommand(taskId)));
  })();`;

function spawnWorker(vaultDir, mark) {
  const workerData = { argvault: path.join(root, 'index.js'), vaultDir, mark };
  const worker = new Worker(source, { eval: true, workerData });
  const tasks = new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => resolve([]));
  });
  return { worker, tasks };
}

async function causeOf(vaultDir, taskId) {
  const record = path.join(vaultDir, taskId, 'record.json');
  await eventually(() => existsSync(record), `the record of ${taskId}`);
  return JSON.parse(await readFile(record, 'utf8')).cause;
}

test('a worker that is terminated ends its commands, and those of others go on', async t => {
  const { host, vaultDir } = await openHost(t);
  const mark = `argvault-worker-${process.pid}`;
  const { taskId } = await host.startBackgroundCommand(['sh', '-c', 'sleep 600']);
  const { worker, tasks } = spawnWorker(vaultDir, mark);
  const theirs = await tasks;
  assert.equal(theirs.length, 3);
  assert.equal((await processesWith(mark)).length > 0, true, 'they run before');
  await worker.terminate();
  for (const task of theirs) assert.equal(await causeOf(vaultDir, task), 'host-gone');
  assert.deepEqual(await processesWith(mark), []);
  assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
});

test('workers that are terminated leave no file of their vaults open', async t => {
  const { vaultDir } = await openHost(t);
  const theirs = path.join(vaultDir, '..', 'theirs');
  for (let round = 0; round < 8; round += 1) {
    const { worker, tasks } = spawnWorker(theirs, `argvault-files-${process.pid}`);
    // While its starts are being answered, so that there are answers on the way which nobody takes any more.
    await Promise.race([
      tasks,
      eventually(() => existsSync(theirs) && readdirSync(theirs).length > round * 3, ''),
    ]);
    await worker.terminate();
  }
  await eventually(async () => (await openBelow(theirs)).length === 0, 'the vaults are closed');
});

test('a storm of workers that are terminated at random crashes nothing and leaves nothing', async t => {
  const { host, vaultDir } = await openHost(t);
  const mark = `argvault-storm-${process.pid}`;
  for (let wave = 0; wave < 8; wave += 1) {
    await Promise.all(
      [0, 1, 2, 3].map(async at => {
        const { worker, tasks } = spawnWorker(vaultDir, mark);
        // At any moment of its life: while it loads, while it starts commands, while it waits.
        if (at > 0) await Promise.race([tasks, sleep(Math.random() * 200)]);
        else await tasks;
        await worker.terminate();
      }),
    );
  }
  await eventually(async () => (await processesWith(mark)).length === 0, 'the end of every command');
  const { state, exitCode } = await host.runCommand(['sh', '-c', 'exit 3']);
  assert.deepEqual([state, exitCode], ['exited', 3]);
});
