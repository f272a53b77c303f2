// Ten thousand commands that are over: what the host still holds for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Samples } from '../lib/measure.mjs';
import { anonymous, openFiles } from '../lib/proc.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 600_000;

// V8 lets its young generation grow to 16 MiB over some thousand commands of any runner, and keeps it: nothing of that is
// held for a command, and it would hide what is.
export const nodeOptions = ['--max-semi-space-size=1'];

const AT_ONCE = 25;

export function plan({ quick, tiny }) {
  const count = tiny ? 20 : quick ? 500 : 10_000;
  return ['argvault', 'background'].map(name => ({ name, count, warmUp: tiny ? 5 : quick ? 200 : 1_000 }));
}

async function runAll(runner, count) {
  let left = count;
  const lane = async () => {
    for (; left > 0; await runner.runTrue()) left -= 1;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** What is held once everything that can go has gone. */
async function held() {
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc();
    await sleep(100);
  }
  const { heapUsed, external } = process.memoryUsage();
  return { memory: anonymous(), heap: heapUsed + external, files: openFiles() };
}

export async function run({ name, count, warmUp }, { places }) {
  const samples = Object.fromEntries(['memory', 'heap', 'files'].map(key => [key, new Samples()]));
  await withRunners([name], places, async ([runner]) => {
    // The first commands grow the heap, the thread pool and compiled code, once.
    await runAll(runner, warmUp);
    const before = await held();
    await runAll(runner, count);
    const after = await held();
    samples.memory.add(name, (after.memory - before.memory) / 1e6);
    samples.heap.add(name, (after.heap - before.heap) / 1e6);
    samples.files.add(name, after.files - before.files);
  });
  const what = `after ${count} settled commands`;
  return [
    samples.memory.line('settled.memory', `host memory (Anonymous) more ${what}`, 'MB'),
    samples.heap.line('settled.heap', `of it JavaScript's heap and buffers ${what}`, 'MB'),
    samples.files.line('settled.files', `host descriptors more ${what}`, ''),
  ];
}
