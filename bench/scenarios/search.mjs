// A search through a gigabyte of build log for a word in its last line, beside ripgrep, or grep where there is none.
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { inTurns, Samples, timed } from '../lib/measure.mjs';
import { logWithNeedle, sizeName } from '../lib/output.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 600_000;

export const plan = ({ quick, tiny }) => [
  { bytes: tiny ? 2 ** 23 : quick ? 2 ** 28 : 2 ** 30, rounds: tiny ? 1 : quick ? 3 : 5 },
];

/** Both through a pipe: towards /dev/null grep stops at the first match. */
function tool() {
  const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
  return hasRipgrep
    ? { name: 'rg -n', argv: ['rg', '--no-config', '--line-number', '--fixed-strings'] }
    : { name: 'grep -c (no ripgrep here)', argv: ['grep', '-c', '-F'] };
}

export async function run({ bytes, rounds }, { places }) {
  const samples = new Samples();
  const { argv, needle, line } = logWithNeedle(bytes);
  const beside = tool();
  const cannot = new Set();

  await withRunners(['argvault', 'background'], places, async runners => {
    const refs = {};
    for (const runner of runners) refs[runner.name] = (await runner.capture(argv)).ref;
    const file = path.join(refs.background.dir, 'stdout');
    const grep = {
      name: 'limit',
      search: () => promisify(execFile)(beside.argv[0], [...beside.argv.slice(1), needle, file]),
    };
    await inTurns(rounds, [...runners, grep], async entrant => {
      // An addon that was built before it could search.
      if (cannot.has(entrant.name)) return;
      try {
        const { ms, result } = await timed(() => entrant.search(refs[entrant.name], needle));
        if (entrant !== grep && result.at(-1)?.line !== line) throw new Error('the last line was not found');
        samples.add(entrant.name, ms);
      } catch (error) {
        if (!/is not a function/.test(error.message)) throw error;
        cannot.add(entrant.name);
      }
    });
  });
  const untested = [...cannot].map(name => `untested: ${name} can't search in this build`);
  const note = [`limit: ${beside.name}`, ...untested].join('; ');
  return [samples.line('search', `search through ${sizeName(bytes)}`, 'ms', { note })];
}
