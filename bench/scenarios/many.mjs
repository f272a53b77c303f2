// 500 commands started in one turn of the event loop, until the last has settled.
import { inTurns, Samples, timedWithLoop } from '../lib/measure.mjs';
import { everybody, withRunners } from '../runners/index.mjs';

export const ceilingMs = 300_000;

export const plan = ({ quick, tiny }) => [
  { count: tiny ? 5 : quick ? 100 : 500, rounds: tiny ? 1 : quick ? 3 : 7 },
];

export async function run({ count, rounds }, { places, floor }) {
  const [total, busy] = [new Samples(), new Samples()];
  await withRunners(everybody, places, async runners => {
    for (const runner of runners) await runner.runMany(3);
    await inTurns(rounds, floor ? [...runners, floor] : runners, async entrant => {
      if (entrant === floor) return total.add('limit', ...floor.atOnce(count));
      const { ms, busyMs } = await timedWithLoop(() => entrant.runMany(count));
      total.add(entrant.name, ms);
      busy.add(entrant.name, busyMs);
    });
  });
  return [
    total.line('many', `${count} × /bin/true at once, until all have settled`, 'ms'),
    busy.line('many.busy', `all work of the loop for ${count} at once`, 'ms'),
  ];
}
