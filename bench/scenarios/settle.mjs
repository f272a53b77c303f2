// From the moment a program has written its last byte to the moment its runner says that it is over: does that depend
// on how much it wrote?
import { inTurns, Samples } from '../lib/measure.mjs';
import { sizeName, zerosThenTime } from '../lib/output.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 300_000;

export const plan = ({ quick, tiny }) => [
  { small: 2 ** 20, large: tiny ? 2 ** 23 : quick ? 2 ** 28 : 2 ** 30, rounds: tiny ? 1 : quick ? 3 : 7 },
];

export async function run({ small, large, rounds }, { places }) {
  const samples = { small: new Samples(), large: new Samples() };
  const sizes = { small, large };
  const turns = Object.keys(sizes).flatMap(size => ['argvault', 'background'].map(name => ({ size, name })));

  // A runner of its own for each turn, so that what was captured can go at once: gigabytes add up.
  await inTurns(rounds, turns, ({ size, name }) =>
    withRunners([name], places, async ([runner]) => {
      await runner.runTrue();
      const { ref } = await runner.capture(zerosThenTime(sizes[size]));
      const over = performance.timeOrigin + performance.now();
      samples[size].add(name, over - Number(await runner.stderr(ref)) * 1_000);
    }),
  );
  return [
    samples.small.line('settle.small', `settling after ${sizeName(small)}, from the program's end`, 'ms'),
    samples.large.line('settle.large', `settling after ${sizeName(large)}, from the program's end`, 'ms'),
  ];
}
