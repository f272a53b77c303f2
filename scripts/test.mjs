// Everything that must hold before a change goes in. Every suite runs, whatever the one before said.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { filesEndingWith, inRoot, install, root } from './project.mjs';

const node = process.execPath;
const tsc = project => [
  node,
  inRoot('node_modules', 'typescript', 'bin', 'tsc'),
  '-p',
  `__test__/types/${project}`,
];
const clippy = (...features) => [
  'cargo',
  'clippy',
  '--locked',
  '--all-targets',
  ...features,
  '--',
  '-D',
  'warnings',
];
const hasNextest = spawnSync('cargo', ['nextest', '--version']).status === 0;

// Plain `cargo test` can't end a stuck test; the configuration of nextest does.
const rustTests = hasNextest
  ? ['cargo', 'nextest', 'run', '--locked', '--no-default-features', '--no-fail-fast', '--no-tests=pass']
  : ['cargo', 'test', '--locked', '--no-default-features', '--no-fail-fast'];

// A release is built for musl too, whose C library has other types. Tried where Rust has that target.
const MUSL = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
const muslLibrary = spawnSync('rustc', ['--print', 'target-libdir', '--target', MUSL], { encoding: 'utf8' });
const hasMusl = existsSync(muslLibrary.stdout?.trim() ?? '');

/**
 * Name, command line, and the seconds that the suite may take on two cores. A suite over its ceiling is marked and does
 * not fail: how fast a machine is says nothing about a change, and a verdict that depends on it would be run again until
 * it is green. A suite that can leave something out for another day reads its ceiling in ARGVAULT_SUITE_SECONDS.
 */
const suites = [
  ['build', [node, 'scripts/build.mjs', '--if-stale']],
  ['rust format', ['cargo', 'fmt', '--check']],
  ['rust lint, addon', clippy()],
  ['rust lint, core', clippy('--no-default-features')],
  ...(hasMusl ? [['rust check, musl', ['cargo', 'check', '--locked', '--target', MUSL]]] : []),
  ['rust tests', rustTests, 480],
  ['js format and lint', [node, inRoot('node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'ci', '.']],
  ['types, node16', tsc('tsconfig.json')],
  ['types, nodenext', tsc('tsconfig.nodenext.json')],
  ['types, bundler', tsc('tsconfig.bundler.json')],
  [
    'js tests',
    [
      node,
      '--test',
      '--test-timeout=120000',
      '--test-reporter=spec',
      ...filesEndingWith('__test__', '.test.mjs'),
    ],
    240,
  ],
  ['package', [node, 'scripts/test-package.mjs']],
  ['runtimes, install', [node, 'runtimes/main.mjs', '--install']],
  ['runtimes', [node, 'runtimes/main.mjs'], 240],
];

/** Test counts in what nextest, libtest and node:test print at their ends; each may appear several times. */
function countsIn(output) {
  const sum = (...patterns) =>
    patterns
      .flatMap(pattern => [...output.matchAll(pattern)])
      .reduce((total, match) => total + Number(match[1]), 0);
  const passed = sum(/tests? run: (\d+) passed/g, /^test result: \S+ (\d+) passed/gm, /^ℹ pass (\d+)/gm);
  const failed = sum(/passed.*?, (\d+) failed/g, /^test result: .*?; (\d+) failed/gm, /^ℹ fail (\d+)/gm);
  return passed + failed === 0 ? '' : `${passed} passed, ${failed} failed`;
}

function runSuite([name, [command, ...args], ceiling]) {
  console.log(
    `\n── ${name}: ${[command === node ? 'node' : command, ...args.map(a => a.replace(`${root}/`, ''))].join(' ')}`,
  );
  const begun = performance.now();
  return new Promise(resolve => {
    const env = { ...process.env, ...(ceiling && { ARGVAULT_SUITE_SECONDS: String(ceiling) }) };
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env });
    let output = '';
    const tee = to => chunk => {
      output += chunk;
      to.write(chunk);
    };
    child.stdout.on('data', tee(process.stdout));
    child.stderr.on('data', tee(process.stderr));
    child.on('error', error => console.error(error.message));
    child.on('close', code => {
      const seconds = (performance.now() - begun) / 1000;
      resolve({ name, ok: code === 0, seconds, ceiling, counts: countsIn(output) });
    });
  });
}

install();
const results = [];
for (const suite of suites) results.push(await runSuite(suite));

console.log('\n');
for (const { name, ok, seconds, ceiling, counts } of results) {
  const over = seconds > ceiling ? `  OVER its ceiling of ${ceiling} s` : '';
  const time = `${seconds.toFixed(1).padStart(7)} s`;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(20)} ${time}  ${counts}${over}`);
}
const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
console.log(`       ${'all'.padEnd(20)} ${total.toFixed(1).padStart(7)} s`);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
