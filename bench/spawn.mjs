// What a start costs the host's event loop while it holds much memory: argvault beside child_process, in rounds that
// take turns, so that a noisy machine is noisy for both. `node bench/spawn.mjs [MiB] [rounds]`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandHost } from 'argvault';

const [mebibytes = 1024, rounds = 20] = process.argv.slice(2).map(Number);
// Filled, since pages that were never touched cost a fork nothing.
const ballast = Array.from({ length: mebibytes / 64 }, () => Buffer.alloc(64 * 2 ** 20, 1));

const vaultDir = mkdtempSync(path.join(tmpdir(), 'argvault-bench-'));
const host = new CommandHost({ vaultDir });
await host.setBackgroundCommandPolicy({ allowedExecutables: ['true'], cwdRoot: '/' });

const runners = {
  argvault() {
    const handle = host.startBackgroundCommand(['true']);
    return async () => host.awaitBackgroundCommand((await handle).taskId);
  },
  child_process() {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] });
    return () => once(child, 'close');
  },
};

/** Turns the event loop until `done`, and says how long the longest turn took. */
async function longestTurn(done) {
  let ended = false;
  const ending = done.finally(() => {
    ended = true;
  });
  let longest = 0;
  for (let before = performance.now(); !ended; ) {
    await nextTurn();
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await ending;
  return longest;
}

async function round(start) {
  await nextTurn();
  const begun = performance.now();
  const finish = start();
  const callMs = performance.now() - begun;
  const turnMs = await longestTurn(finish());
  return { callMs, loopMs: Math.max(callMs, turnMs), totalMs: performance.now() - begun };
}

const samples = { argvault: [], child_process: [] };
for (let i = 0; i <= rounds; i += 1) {
  for (const [name, start] of Object.entries(runners)) {
    const sample = await round(start);
    // The first round of each starts the warden and warms both up.
    if (i > 0) samples[name].push(sample);
  }
}

const sorted = (name, key) => samples[name].map(sample => sample[key]).sort((a, b) => a - b);
const median = (name, key) => sorted(name, key)[Math.floor(rounds / 2)];
const worst = (name, key) => sorted(name, key).at(-1);
const row = (label, key, of) => {
  const [own, other] = [of('argvault', key), of('child_process', key)];
  const ratio =
    own < other ? `${(other / own).toFixed(1)} times less` : `${(own / other).toFixed(2)} times more`;
  console.log(
    `${label.padEnd(34)} ${ratio.padStart(18)}   argvault ${own.toFixed(3)} ms   child_process ${other.toFixed(3)} ms`,
  );
};

const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
console.log(
  `host ${rss} MiB resident (${ballast.length} buffers of 64 MiB), ${rounds} rounds in turn, Node ${process.version}`,
);
row('start call holds the loop, median', 'callMs', median);
row('start call holds the loop, worst', 'callMs', worst);
row('longest turn of the loop, median', 'loopMs', median);
row('longest turn of the loop, worst', 'loopMs', worst);
row('start to settled, median', 'totalMs', median);

await host.dispose();
rmSync(vaultDir, { recursive: true, force: true });
