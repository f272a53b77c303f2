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

const suites = [
  ['build', [node, 'scripts/build.mjs']],
  ['rust format', ['cargo', 'fmt', '--check']],
  ['rust lint, addon', clippy()],
  ['rust lint, core', clippy('--no-default-features')],
  ...(hasMusl ? [['rust check, musl', ['cargo', 'check', '--locked', '--target', MUSL]]] : []),
  ['rust tests', rustTests],
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
  ],
  ['sdks', [node, 'scripts/test-sdks.mjs']],
  ['package', [node, 'scripts/test-package.mjs']],
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

function runSuite([name, [command, ...args]]) {
  console.log(
    `\n── ${name}: ${[command === node ? 'node' : command, ...args.map(a => a.replace(`${root}/`, ''))].join(' ')}`,
  );
  const begun = performance.now();
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const tee = to => chunk => {
      output += chunk;
      to.write(chunk);
    };
    child.stdout.on('data', tee(process.stdout));
    child.stderr.on('data', tee(process.stderr));
    child.on('error', error => console.error(error.message));
    child.on('close', code => {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      resolve({ name, ok: code === 0, seconds, counts: countsIn(output) });
    });
  });
}

install();
const results = [];
for (const suite of suites) results.push(await runSuite(suite));

console.log('\n');
for (const { name, ok, seconds, counts } of results) {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(20)} ${seconds.padStart(7)} s  ${counts}`);
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
