// 200 workers, each terminated at a random moment of its life: while it loads, starts, waits or follows. Nothing crashes,
// nothing that they started lives on, each of their records says why, and the main thread's own command never notices.
// `--seed N` repeats the moments of an earlier storm, as far as threads can be repeated.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { CommandHost } from 'argvault';
import { eventually, openBelow, processesWith } from '../../__test__/helpers/facts.mjs';
import { makePlace, written } from '../lib/cases.mjs';

const { values } = parseArgs({ options: { seed: { type: 'string' }, workers: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const workers = Number(values.workers ?? 200);
const AT_ONCE = 8;
const LONGEST_LIFE_MS = 250;

console.log(`storm --seed ${seed} --workers ${workers}`);
let state = seed >>> 0;
/** A number from 0 to 1, of the sequence of the seed (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

const { dir, root, vaultDir } = makePlace();
const mark = `argvault-storm-${process.pid}-${seed}`;
const reported = [];
const errors = [];

async function oneWorker({ lifeMs, untilStarted }) {
  const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData: { vaultDir, mark } });
  const started = new Promise(resolve => {
    worker.on('message', taskId => {
      reported.push(taskId);
      resolve();
    });
    worker.on('exit', resolve);
  });
  worker.on('error', error => errors.push(error));
  await (untilStarted ? started : Promise.race([started, sleep(lifeMs)]));
  await sleep(untilStarted ? lifeMs / 10 : 0);
  await worker.terminate();
}

async function lane(lives) {
  for (let life = lives.pop(); life !== undefined; life = lives.pop()) await oneWorker(life);
}

const causeOf = taskId => {
  const record = path.join(vaultDir, taskId, 'record.json');
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')).cause : undefined;
};

const host = new CommandHost({ vaultDir: `${vaultDir}-main` });
try {
  const policy = { allowedExecutables: ['sh'], cwdRoot: root, defaultTimeoutMs: 3_600_000 };
  await host.setBackgroundCommandPolicy(policy);
  const talks = 'echo ready; read line; echo "heard $line"; exec sleep 600';
  const { taskId } = await host.startBackgroundCommand(['sh', '-c', talks], { input: 'nothing\n' });
  await written(host, taskId, 'heard nothing');
  const lives = Array.from({ length: workers }, () => ({
    lifeMs: random() * LONGEST_LIFE_MS,
    untilStarted: random() < 0.5,
  }));
  await Promise.all(Array.from({ length: AT_ONCE }, () => lane(lives)));

  await eventually(async () => (await processesWith(mark)).length === 0, 'the end of every command');
  assert.ok(reported.length >= workers / 4, `only ${reported.length} commands were started`);
  const causes = {};
  for (const each of reported) {
    const cause = await eventually(() => causeOf(each), `the record of ${each}`);
    causes[cause] = (causes[cause] ?? 0) + 1;
  }
  assert.deepEqual(Object.keys(causes), ['host-gone'], JSON.stringify(causes));
  assert.deepEqual(errors, []);
  assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
  assert.equal((await host.killBackgroundCommand(taskId)).cause, 'kill');
  assert.equal((await host.runCommand(['sh', '-c', 'exit 3'])).exitCode, 3);
  // Deno finalizes no native object of a thread that it ends, so each host's vault stays open there.
  const letGo = async () => 'Deno' in globalThis || (await openBelow(vaultDir)).length === 0;
  await eventually(letGo, 'the vaults of workers that are gone are closed');
  console.log(`${workers} workers, ${reported.length} commands`);
} finally {
  await host.dispose();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}
