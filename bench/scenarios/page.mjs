// A page of 50,000 characters at the start and deep inside a gigabyte of text.
import path from 'node:path';
import { inTurns, Samples, timed } from '../lib/measure.mjs';
import { numbers, sizeName } from '../lib/output.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 300_000;

const PAGE = 50_000;
const DEEP = 0.93;

export const plan = ({ quick, tiny }) => [
  {
    bytes: tiny ? 2 ** 23 : quick ? 2 ** 28 : 2 ** 30,
    rounds: tiny ? 1 : quick ? 3 : 7,
    each: tiny ? 2 : 20,
  },
];

export async function run({ bytes, rounds, each }, { places, floor }) {
  const samples = { start: new Samples(), deep: new Samples() };
  const { argv, bytes: total } = numbers(bytes);
  const contents = {};

  /** Neighbours, since a page's cost may depend on its distance from whatever the runner has noted. */
  const offsetOf = (place, i) => (place === 'start' ? i * 17_000 : Math.floor(total * DEEP) - i * 17_000);

  await withRunners(['argvault', 'background'], places, async runners => {
    const refs = {};
    for (const runner of runners) refs[runner.name] = (await runner.capture(argv)).ref;
    const file = path.join(refs.background.dir, 'stdout');
    const places = Object.keys(samples);
    const turns = places.flatMap(place =>
      [...runners, ...(floor ? [floor] : [])].map(entrant => ({ place, entrant })),
    );

    await inTurns(rounds, turns, async ({ place, entrant }) => {
      if (entrant === floor)
        return samples[place].add('limit', ...floor.pages(file, offsetOf(place, 0), PAGE, each));
      // Reading a gigabyte to get at a page takes seconds: once a round is enough.
      const count = entrant.name === 'background' && place === 'deep' ? 1 : each;
      for (let i = 0; i < count; i += 1) {
        const offset = offsetOf(place, i);
        const { ms, result } = await timed(() => entrant.page(refs[entrant.name], offset, PAGE));
        samples[place].add(entrant.name, ms);
        contents[offset] ??= result.content;
        if (contents[offset] !== result.content) throw new Error(`the pages at ${offset} differ`);
      }
    });
  });
  return [
    samples.start.line('page.start', `a page at the start of ${sizeName(bytes)}`, 'ms', { worst: true }),
    samples.deep.line('page.deep', `a page at 93 % of ${sizeName(bytes)}`, 'ms', { worst: true }),
  ];
}
