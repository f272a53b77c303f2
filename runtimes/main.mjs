// `npm run test:runtimes`: the package, as npm installs it, in every runtime and under every test runner that users have.
// `-- --only WORD` runs the jobs whose names hold it. With ARGVAULT_SUITE_SECONDS it keeps to that time: what every run
// has comes first, then the rest in an order that turns from day to day, until the time is used up; what was left out is
// printed, and `ARGVAULT_ROTATION` (printed too) repeats the order of a day.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { everyRunner, missing, nodes, runners, smoke, storms } from './lib/matrix.mjs';
import { here, installTools, placePackage } from './lib/place.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' }, install: { type: 'boolean' } } });
const CEILING_MS = 180_000;
const DAY_MS = 86_400_000;

const rotation = Number(process.env.ARGVAULT_ROTATION ?? Math.floor(Date.now() / DAY_MS));
const budgetMs = Number(process.env.ARGVAULT_SUITE_SECONDS ?? Number.POSITIVE_INFINITY) * 1_000;
const turned = list => list.map((_, at) => list[(at + rotation) % list.length]);

/** The jobs of every run, and those that a run may leave out, in the order of this day. */
function plan() {
  const current = `node ${process.versions.node.split('.')[0]}`;
  const currentStorm = storms.find(([name]) => name === `storm, ${current}`);
  const [oneStorm, ...otherStorms] = turned(storms.filter(storm => storm !== currentStorm));
  const [oneNode, ...otherNodes] = turned(runners);
  const always = [...smoke, ...everyRunner, ...oneNode, oneStorm];
  if (currentStorm !== undefined && current in nodes) always.push(currentStorm);
  return { always, turning: [...otherStorms, ...otherNodes.flat()] };
}

function runJob([name, [command, ...args], options]) {
  const begun = performance.now();
  // A runner that thinks it runs within another one reports to that instead.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: here,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1', FORCE_COLOR: '0' },
    timeout: CEILING_MS,
    killSignal: 'SIGKILL',
    ...options,
  });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(6);
  const ok = status === 0;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}`);
  if (!ok)
    console.log(
      `${stdout}${stderr}${signal ?? error?.code ?? `status ${status}`}\n${command} ${args.join(' ')}`,
    );
  return ok;
}

installTools();
if (values.install) process.exit(0);
const absent = missing();
if (absent.length > 0) console.log(`not here: ${absent.join(', ')}; a job that needs one fails`);
placePackage();

const wanted = jobs => jobs.filter(([name]) => name.includes(values.only ?? ''));
const { always, turning } = plan();
const begun = performance.now();
const results = wanted(always).map(runJob);
const rest = wanted(turning);
while (rest.length > 0 && performance.now() - begun < budgetMs) results.push(runJob(rest.shift()));

const passed = results.filter(Boolean).length;
console.log(
  `rotation ${rotation}${rest.length > 0 ? `; left for another day: ${rest.map(([name]) => name).join('; ')}` : ''}`,
);
console.log(`ℹ pass ${passed}\nℹ fail ${results.length - passed}`);
process.exitCode = passed === results.length && passed > 0 ? 0 : 1;
