// Runs the scenarios, each part in a process of its own, under a ceiling, and puts their lines together.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inBench } from './paths.mjs';
import { killAll, leftovers } from './proc.mjs';

const MARK = 'ARGVAULT_BENCH_RUN';
const run = randomUUID();
const LEAVING_MS = 5_000;

const leftIn = scratch => leftovers(`${MARK}=${run}`, scratch);

/** Ends at once what this run has left. Commands are in process groups of their own and don't end with their scenario. */
export const endLeftovers = scratch => killAll(leftIn(scratch));

/** The same after a while in which it may end by itself, as argvault promises; says how many didn't. */
async function seeOff(scratch) {
  const until = performance.now() + LEAVING_MS;
  while (leftIn(scratch).length > 0 && performance.now() < until) await sleep(50);
  const stayed = leftIn(scratch);
  killAll(stayed);
  return stayed.length;
}

/** In the order of the table. */
export const scenarioNames = [
  'start',
  'many',
  'capture',
  'settle',
  'page',
  'search',
  'running',
  'settled',
  'package',
];

/** Lines of the same id come from several processes; their samples are one. */
function merge(into, lines) {
  for (const line of lines) {
    const { values, ...rest } = into.get(line.id) ?? { ...line, values: {} };
    for (const [name, samples] of Object.entries(line.values)) {
      values[name] = [...(values[name] ?? []), ...samples];
    }
    into.set(line.id, { ...rest, values });
  }
}

async function runPart(name, parameters, { scratch, floorFile, ceilingMs, nodeOptions, say }) {
  const dir = path.join(scratch, 'part');
  const resultFile = path.join(scratch, 'result.json');
  rmSync(resultFile, { force: true });
  mkdirSync(dir);
  const args = [name, dir, resultFile, floorFile ?? '', JSON.stringify(parameters)];
  const options = ['--expose-gc', ...nodeOptions];
  const child = spawn(process.execPath, [...options, inBench('lib', 'child.mjs'), ...args], {
    env: { ...process.env, [MARK]: run },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: ceilingMs,
    killSignal: 'SIGKILL',
  });
  try {
    const [code, signal] = await once(child, 'close');
    if (signal === 'SIGKILL') throw new Error(`not done after ${ceilingMs / 1000} s`);
    if (code !== 0 || !existsSync(resultFile)) throw new Error(`ended with ${signal ?? `status ${code}`}`);
    return JSON.parse(readFileSync(resultFile, 'utf8'));
  } finally {
    const stayed = await seeOff(scratch);
    if (stayed > 0)
      say(`${stayed} processes were still there ${LEAVING_MS / 1000} s after their host, and were killed`);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Lines by id; a scenario that fails is in `failures` and costs only itself. */
export async function runScenarios(names, { how, scratch, floorFile, say }) {
  const lines = new Map();
  const failures = [];
  for (const name of names) {
    const { plan, ceilingMs, nodeOptions = [] } = await import(`../scenarios/${name}.mjs`);
    const parts = plan(how);
    const begun = performance.now();
    for (const [i, parameters] of parts.entries()) {
      say(`${name} ${i + 1}/${parts.length} ${JSON.stringify(parameters)}`);
      try {
        merge(lines, await runPart(name, parameters, { scratch, floorFile, ceilingMs, nodeOptions, say }));
      } catch (error) {
        failures.push(`${name} ${JSON.stringify(parameters)}: ${error.message}`);
        say(failures.at(-1));
        // The other parts would most likely fail likewise, each up to its ceiling.
        break;
      }
    }
    say(`${name} took ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  }
  return { lines, failures };
}
