// What is run in what. A job is `[name, command line, options]`; the same name always means the same work.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { here } from './place.mjs';

const inModules = (...parts) => path.join(here, 'node_modules', ...parts);
const cpu = process.arch;
const bunName = { x64: 'bun-linux-x64', arm64: 'bun-linux-aarch64' }[cpu];

export const nodes = Object.fromEntries(
  [20, 22, 24, 26].map(version => [`node ${version}`, [inModules(`node${version}-${cpu}`, 'bin', 'node')]]),
);
const bun = [inModules('@oven', bunName ?? 'none', 'bin', 'bun')];
const deno = [inModules('@deno', `linux-${cpu}-glibc`, 'deno'), 'run', '-A', '--no-lock'];
export const runtimes = { ...nodes, bun, deno };

/** The names of runtimes that are not there: an unknown processor, or an install that left them out. */
export const missing = () => Object.keys(runtimes).filter(name => !existsSync(runtimes[name][0]));

const script = (...parts) => path.join(here, ...parts);
const inDir = (...parts) => ({ cwd: script('runners', ...parts) });

/** The whole public interface. */
export const smoke = Object.entries(runtimes).flatMap(([name, runtime]) => [
  [`smoke, ${name}`, [...runtime, script('smoke', 'main.mjs')]],
  [`smoke, ${name}, worker`, [...runtime, script('smoke', 'main.mjs'), '--worker']],
]);

// A worker takes Deno several times as long.
const stormSize = name => (name === 'deno' ? ['--workers', '50'] : []);
export const storms = Object.entries(runtimes).map(([name, runtime]) => [
  `storm, ${name}`,
  [...runtime, script('storm', 'main.mjs'), ...stormSize(name)],
]);

const nodeTest = Object.entries(nodes).map(([name, node]) => [
  `node:test, ${name}`,
  [...node, '--test', 'package.test.mjs'],
  inDir('node-test'),
]);

/** The runners that need Node 22, in every way that each isolates its tests. */
const isolating = ([name, node]) => [
  ...['threads', 'forks', 'vmThreads', 'vmForks'].map(pool => [
    `vitest ${pool}, ${name}`,
    [...node, inModules('vitest', 'vitest.mjs'), 'run', `--pool=${pool}`],
    inDir('vitest'),
  ]),
  [
    `jest, ${name}`,
    [...node, '--experimental-vm-modules', inModules('jest', 'bin', 'jest.js'), '--workerThreads=false'],
    inDir('jest'),
  ],
  [
    `jest workerThreads, ${name}`,
    [...node, '--experimental-vm-modules', inModules('jest', 'bin', 'jest.js'), '--workerThreads'],
    inDir('jest'),
  ],
  [`ava threads, ${name}`, [...node, inModules('ava', 'entrypoints', 'cli.js')], inDir('ava')],
  [
    `ava processes, ${name}`,
    [...node, inModules('ava', 'entrypoints', 'cli.js'), '--no-worker-threads'],
    inDir('ava'),
  ],
];
/** One list for each version of Node. */
export const runners = Object.entries(nodes).slice(1).map(isolating);

export const everyRunner = [...nodeTest, ['bun test', [...bun, 'test'], inDir('bun')]];
