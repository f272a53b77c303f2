// Builds the addon, and the static warden that goes beside it; fills the packages that are published, one with both.
// `--if-stale` builds nothing when all of it is younger than its sources.
// `--target TRIPLE[.GLIBC]` builds the addon with cargo-zigbuild for another C library, which a release wants:
// `x86_64-unknown-linux-gnu.2.17` loads wherever Node does, where a plain build needs the glibc it was built on.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addonOf, fillPlatformPackage, platformOf, WARDEN } from './platform.mjs';
import { fail, inRoot, isStale, run } from './project.mjs';
import { fillPackage } from './published.mjs';

function hostTriple() {
  const { stdout, error } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  const triple = stdout?.match(/^host: (.+)$/m)?.[1];
  if (triple === undefined)
    fail(`rustc did not name its host (${error?.message}). Install stable Rust, 1.88 or later.`);
  return triple;
}

/** What the addon is built for. The warden is static, so one for this processor goes with any C library. */
function targetOf(host, given) {
  if (given === undefined) return { triple: host, flags: [] };
  const triple = given.split('.', 1)[0];
  const processor = host.split('-', 1)[0];
  if (triple.split('-', 1)[0] !== processor)
    fail(`the warden for ${triple} is built on its own processor, and this is ${processor}.`);
  return { triple, flags: ['--cross-compile', '--target', given] };
}

function buildAddon(flags) {
  const napi = inRoot('node_modules', '@napi-rs', 'cli', 'dist', 'cli.js');
  const files = ['--no-js', '--dts', 'binding.d.ts'];
  // `--lib`: the warden must not be built with N-API in it.
  run(process.execPath, [
    napi,
    'build',
    '--platform',
    '--release',
    '--no-const-enum',
    ...files,
    ...flags,
    '--',
    '--lib',
  ]);
}

function buildWarden(triple) {
  // Static and not position independent: the smallest start and the fewest private pages. `--target` keeps these
  // flags away from proc macros, which are built for the host and must be dynamic.
  const RUSTFLAGS = '-C target-feature=+crt-static -C relocation-model=static';
  const env = { ...process.env, RUSTFLAGS };
  const what = ['--bin', WARDEN, '--no-default-features', '--target', triple];
  run('cargo', ['build', '--profile', 'warden', '--locked', ...what], { env });

  // Renamed into place: a warden that runs keeps its file, where copying over it would be ETXTBSY.
  const [placed, fresh] = [inRoot(WARDEN), inRoot(`${WARDEN}.new`)];
  const target = process.env.CARGO_TARGET_DIR ?? inRoot('target');
  rmSync(fresh, { force: true });
  copyFileSync(`${target}/${triple}/warden/${WARDEN}`, fresh);
  chmodSync(fresh, 0o755);
  renameSync(fresh, placed);
}

/** Makes the addon and the warden. */
function build(triple, flags, host) {
  buildAddon(flags);
  buildWarden(host);
  const products = [addonOf(platformOf(triple)), WARDEN].map(name => inRoot(name));
  const missing = products.find(file => !existsSync(file));
  if (missing !== undefined) fail(`the build made no ${missing}.`);
  // The tools leave alone what is as it was, and staleness is told by times.
  const now = new Date();
  for (const file of products) utimesSync(file, now, now);
}

const { values: options } = parseArgs({
  options: { target: { type: 'string' }, 'if-stale': { type: 'boolean' } },
});
const host = hostTriple();
const { triple, flags } = targetOf(host, options.target);
const platform = platformOf(triple);
// napi's CLI forces the crate's build by the environment when it has no types of it yet, and no more after that: cargo
// sees an environment that has changed, so the build after the first compiles it all again, for nothing.
if (!options['if-stale'] || isStale()) build(triple, flags, host);
fillPlatformPackage(platform);
fillPackage();
// One for another C library has no business among what this machine loads.
if (platform !== platformOf(host)) rmSync(inRoot(addonOf(platform)));
