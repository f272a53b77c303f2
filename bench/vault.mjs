// What the vault costs through the JavaScript API: pages of a large log, memory of many settled commands, the delay of a
// follower. Run with `node bench/vault.mjs [gigabytes] [commands]`; the figures belong to the build that is in place.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommandHost } from '../index.mjs';

const gigabytes = Number(process.argv[2] ?? 1);
const commands = Number(process.argv[3] ?? 10_000);
const dir = await mkdtemp(path.join(tmpdir(), 'argvault-bench-'));
const host = new CommandHost({ vaultDir: path.join(dir, 'vault') });
await host.setBackgroundCommandPolicy({
  allowedExecutables: ['sh', 'true', 'yes', 'head'],
  cwdRoot: dir,
  maxOutputBytes: 2 ** 34,
  maxConcurrent: 16,
});

const memory = async field => {
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(status.match(new RegExp(`${field}:\\s+(\\d+)`))[1]) / 1024;
};
const median = times => times.sort((a, b) => a - b)[times.length >> 1];
const timed = async work => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};
const say = (what, value, unit) => console.log(`${what.padEnd(52)} ${value.toFixed(2).padStart(10)} ${unit}`);

async function pages() {
  const bytes = Math.round(gigabytes * 2 ** 30);
  const run = size =>
    host.runCommand(['sh', '-c', `yes 'a line of a log, żółć ≤ 😀, number 12345' | head -c ${size}`]);
  await run(2 ** 20);
  const before = await memory('VmHWM');
  const status = await run(bytes);
  say(`${gigabytes} GiB of output: growth of VmHWM`, (await memory('VmHWM')) - before, 'MiB');
  const { taskId } = status;
  const { totalSize } = await host.readBackgroundCommandOutput(taskId, { limit: 1 });
  const at = async (share, limit) => {
    const times = [];
    for (let n = 0; n < 101; n += 1) {
      const offset = Math.floor(totalSize * share) + n * limit;
      times.push(await timed(() => host.readBackgroundCommandOutput(taskId, { offset, limit })));
    }
    return median(times);
  };
  for (const limit of [1_000, 50_000]) {
    say(`page of ${limit} units at the start`, await at(0, limit), 'ms');
    say(`page of ${limit} units at 93 %`, await at(0.93, limit), 'ms');
  }
  const { totalLines } = await host.readBackgroundCommandOutput(taskId, { line: 1, lines: 1 });
  for (const share of [0, 0.93]) {
    const times = [];
    for (let n = 0; n < 101; n += 1) {
      const line = Math.floor(totalLines * share) + n * 20;
      times.push(await timed(() => host.readBackgroundCommandOutput(taskId, { line, lines: 20 })));
    }
    say(`20 lines at ${share * 100} %`, median(times), 'ms');
  }
}

async function many() {
  const argv = ['true'];
  const batch = async count => {
    for (let n = 0; n < count; n += 500) {
      await Promise.all(Array.from({ length: Math.min(500, count - n) }, () => host.runCommand(argv)));
    }
    globalThis.gc?.();
    return memory('VmRSS');
  };
  const before = await batch(1_000);
  const after = await batch(commands);
  say(`${commands} settled commands: growth of VmRSS`, after - before, 'MiB');
  say(`a list of 50 among them`, await timed(() => host.listCommands()), 'ms');
  const { removed } = await host.cleanup({ olderThanMs: 0 });
  say(`removed by cleanup`, removed, '');
}

async function latency() {
  const script = 'i=0; while [ $i -lt 200 ]; do date +%s%N; sleep 0.01; i=$((i+1)); done';
  const { taskId } = await host.startBackgroundCommand(['sh', '-c', script]);
  const delays = [];
  for await (const line of host.followLines(taskId)) {
    delays.push(
      Number(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)) - BigInt(line)) / 1e6,
    );
  }
  const sorted = delays.sort((a, b) => a - b);
  say('follower: median from `date` to JavaScript', sorted[sorted.length >> 1], 'ms');
  say('follower: 95th percentile', sorted[Math.floor(sorted.length * 0.95)], 'ms');
}

try {
  await latency();
  await pages();
  await many();
} finally {
  await host.dispose();
  await rm(dir, { recursive: true, force: true });
}
