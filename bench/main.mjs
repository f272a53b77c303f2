// `npm run bench [-- --quick] [-- --json FILE] [-- --write now|before] [-- scenario…]`: argvault beside everything else
// that a user could pick, and beside what the kernel allows, in one run.
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fail, run } from '../scripts/project.mjs';
import { inBench } from './lib/paths.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Every scenario once, on sizes of no meaning: shows that it works.
    tiny: { type: 'boolean' },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    write: { type: 'string' },
  },
});

function installRunners() {
  const [installed, lock] = [inBench('node_modules', '.package-lock.json'), inBench('package-lock.json')];
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: inBench() });
}

installRunners();
// What these import may have been installed just now.
const { buildFloor } = await import('./lib/floor.mjs');
const { inWords, machine } = await import('./lib/machine.mjs');
const { markdownTables, report, terminalTable } = await import('./lib/report.mjs');
const { endLeftovers, runScenarios, scenarioNames } = await import('./lib/scenario.mjs');
const { makeScratch } = await import('./lib/scratch.mjs');
const { writeSection } = await import('./lib/document.mjs');

const unknown = positionals.find(name => !scenarioNames.includes(name));
if (unknown !== undefined) fail(`there is no scenario "${unknown}"; there are ${scenarioNames.join(', ')}.`);
const names = positionals.length > 0 ? positionals : scenarioNames;

const floorFile = process.env.ARGVAULT_BENCH_FLOOR ?? buildFloor();
const place = machine();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
const scratch = makeScratch(endLeftovers);

const say = text => console.error(`# ${text}`);
say(inWords(place));
const { lines, failures } = await runScenarios(names, { how: flags, scratch, floorFile, say });
const result = report(lines);

console.log(`\n${terminalTable(result)}`);
for (const failure of failures) console.log(`FAILED ${failure}`);
if (flags.json !== undefined) {
  writeFileSync(
    flags.json,
    `${JSON.stringify({ machine: place, how: flags, failures, ...result }, null, 1)}\n`,
  );
}
if (flags.write !== undefined) {
  writeSection(
    flags.write,
    [`${inWords(place)}.`, ...failures.map(f => `Failed: ${f}.`), markdownTables(result)].join('\n\n'),
  );
}
process.exitCode = failures.length > 0 ? 1 : 0;
