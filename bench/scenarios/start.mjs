// What a start costs: /bin/true until it has settled, how long the event loop works for it, and the longest hold of the
// loop, in hosts of several sizes, since a fork copies the tables of all the memory there is.
import { ballast, holdOf, inTurns, Samples, timedWithLoop } from '../lib/measure.mjs';
import { everybody, withRunners } from '../runners/index.mjs';

export const ceilingMs = 600_000;

export function plan({ quick, tiny }) {
  if (tiny) return [{ hostMiB: 50, rounds: 1, each: 3 }];
  if (quick) return [50, 1024].map(hostMiB => ({ hostMiB, rounds: 5, each: 5 }));
  return [
    { hostMiB: 50, rounds: 21, each: 20 },
    { hostMiB: 1024, rounds: 21, each: 8 },
    // Here one start of child_process takes a quarter of a second.
    { hostMiB: 4096, rounds: 11, each: 4 },
  ];
}

export async function run({ hostMiB, rounds, each }, { places, floor }) {
  const held = ballast(hostMiB);
  const [total, busy, call, hold] = Array.from({ length: 4 }, () => new Samples());

  async function turn(entrant) {
    if (entrant === floor) return total.add('limit', ...floor.oneByOne(each));
    // Whoever forked before has left the host's pages to be copied at the next write: not a cost of this entrant.
    await entrant.runTrue();
    for (let i = 0; i < each; i += 1) {
      const { ms, busyMs } = await timedWithLoop(() => entrant.runTrue());
      total.add(entrant.name, ms);
      busy.add(entrant.name, busyMs);
    }
    const { callMs, holdMs } = await holdOf(() => entrant.start(['/bin/true']));
    call.add(entrant.name, callMs);
    hold.add(entrant.name, holdMs);
  }

  await withRunners(everybody, places, async runners => {
    for (const runner of runners) await holdOf(() => runner.start(['/bin/true']));
    await inTurns(rounds, floor ? [...runners, floor] : runners, turn);
  });
  const size = hostMiB < 1024 ? `${hostMiB} MB` : `${hostMiB / 1024} GiB`;
  // Referenced to the end: freed buffers would make the host small again.
  if (held.length === 0) throw new Error('no memory is held');
  return [
    total.line(`true.${hostMiB}`, `/bin/true, start to settled, host at ${size}`, 'ms'),
    hold.line(`hold.${hostMiB}`, `longest hold of the loop by one start, host at ${size}`, 'ms', {
      worst: true,
    }),
    call.line(`call.${hostMiB}`, `the start call alone holds it, host at ${size}`, 'ms', { worst: true }),
    busy.line(`busy.${hostMiB}`, `all work of the loop for one command, host at ${size}`, 'ms'),
  ];
}
