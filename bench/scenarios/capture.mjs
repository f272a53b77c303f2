// Output of a gigabyte into a file, through each runner: time, and what it costs the host. Every measurement has a
// process of its own, so that nobody starts from another's memory.
import path from 'node:path';
import { Samples, timed } from '../lib/measure.mjs';
import { numbers, sizeName, zeros } from '../lib/output.mjs';
import { forgetPeak, memory } from '../lib/proc.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 120_000;

const entrants = ['limit', 'argvault', 'background', 'child_process', 'execa'];

export function plan({ quick, tiny }) {
  const bytes = tiny ? 2 ** 23 : quick ? 2 ** 28 : 2 ** 30;
  const rounds = tiny ? 1 : quick ? 2 : 5;
  return ['zeros', 'text'].flatMap(kind =>
    Array.from({ length: rounds }, (_, round) =>
      entrants.map((_, i) => ({ kind, bytes, name: entrants[(round + i) % entrants.length] })),
    ).flat(),
  );
}

export async function run({ kind, bytes, name }, { places, floor }) {
  const samples = Object.fromEntries(['wall', 'captured', 'cpu', 'memory'].map(key => [key, new Samples()]));
  const argv = kind === 'zeros' ? zeros(bytes) : numbers(bytes).argv;
  const expected = kind === 'zeros' ? bytes : numbers(bytes).bytes;

  if (name !== 'limit') {
    await withRunners([name], places, async ([runner]) => {
      await runner.runTrue();
      globalThis.gc();
      forgetPeak();
      const [begun, before, cpu] = [performance.now(), memory('VmRSS'), process.cpuUsage()];
      const { ms, result } = await timed(() => runner.capture(argv));
      const { user, system } = process.cpuUsage(cpu);
      if (result.bytes !== expected) throw new Error(`${name} kept ${result.bytes} of ${expected} bytes`);
      samples.wall.add(name, ms);
      samples.cpu.add(name, (user + system) / 1_000);
      samples.memory.add(name, (memory('VmHWM') - before) / 2 ** 20);
      if (result.capturedAt) samples.captured.add(name, result.capturedAt - begun);
    });
  } else if (floor) {
    const dir = places.make('limit');
    samples.wall.add('limit', ...floor.toFile(path.join(dir, 'stdout'), argv));
  }
  const what = `${sizeName(bytes)} of ${kind}`;
  return [
    samples.wall.line(`capture.${kind}`, `capture ${what}, start to settled`, 'ms'),
    samples.captured.line(
      `capture.${kind}.file`,
      `capture ${what}, until it is in the file, not yet banked`,
      'ms',
    ),
    samples.cpu.line(`capture.${kind}.cpu`, `host CPU during it (${kind})`, 'ms'),
    samples.memory.line(
      `capture.${kind}.memory`,
      `host memory during it (${kind}), peak above before`,
      'MiB',
    ),
  ];
}
