// The shortest look at what a start costs the host's event loop while it holds much memory: argvault beside
// child_process, in rounds that take turns. Needs nothing installed. `node bench/spawn.mjs [MiB] [rounds]`
import { ballast, holdOf, inTurns, median, Samples, timed } from './lib/measure.mjs';
import { makeScratch, Places } from './lib/scratch.mjs';
import { open as openArgvault } from './runners/argvault.mjs';
import { open as openChildProcess } from './runners/child-process.mjs';

const [mebibytes = 1024, rounds = 20] = process.argv.slice(2).map(Number);
const held = ballast(mebibytes);
const places = new Places(makeScratch());
const runners = [];
for (const open of [openArgvault, openChildProcess]) runners.push(await open({ dir: places.make('spawn') }));

const keys = ['callMs', 'holdMs', 'totalMs'];
const samples = Object.fromEntries(keys.map(key => [key, new Samples()]));
const start = runner => runner.start(['/bin/true']);

// The first start of argvault starts its warden, too.
for (const runner of runners) await start(runner).settled;
await inTurns(rounds, runners, async runner => {
  // Whoever forked before has left the host's pages to be copied at the next write.
  await start(runner).settled;
  const { callMs, holdMs } = await holdOf(() => start(runner));
  const { ms: totalMs } = await timed(() => start(runner).settled);
  for (const [key, value] of Object.entries({ callMs, holdMs, totalMs }))
    samples[key].add(runner.name, value);
});
for (const runner of runners) await runner.close();

function row(label, key, of) {
  const { argvault, child_process } = samples[key].values;
  const [own, other] = [of(argvault), of(child_process)];
  const ratio =
    own < other ? `${(other / own).toFixed(1)} times less` : `${(own / other).toFixed(2)} times more`;
  console.log(
    `${label.padEnd(34)} ${ratio.padStart(18)}   argvault ${own.toFixed(3)} ms   child_process ${other.toFixed(3)} ms`,
  );
}

const worst = values => Math.max(...values);
const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
console.log(
  `host ${rss} MiB resident (${held.length} buffers), ${rounds} rounds in turn, Node ${process.version}`,
);
row('start call holds the loop, median', 'callMs', median);
row('start call holds the loop, worst', 'callMs', worst);
row('longest turn of the loop, median', 'holdMs', median);
row('longest turn of the loop, worst', 'holdMs', worst);
row('start to settled, median', 'totalMs', median);
