// Builds the addon with its loader, and the static warden that goes beside it.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { builtAddons, fail, inRoot, run } from './project.mjs';

const WARDEN = 'argvault-warden';

function hostTriple() {
  const { stdout, error } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  const triple = stdout?.match(/^host: (.+)$/m)?.[1];
  if (triple === undefined)
    fail(`rustc did not name its host (${error?.message}). Install stable Rust, 1.88 or later.`);
  return triple;
}

function buildAddon() {
  const napi = inRoot('node_modules', '@napi-rs', 'cli', 'dist', 'cli.js');
  const files = ['--js', 'binding.js', '--dts', 'binding.d.ts'];
  // `--lib`: the warden must not be built with N-API in it.
  run(process.execPath, [
    napi,
    'build',
    '--platform',
    '--release',
    '--no-const-enum',
    ...files,
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

buildAddon();
buildWarden(hostTriple());
const products = [...builtAddons(), 'binding.js', WARDEN].map(name => inRoot(name));
const missing = products.find(file => !existsSync(file));
if (missing !== undefined) fail(`the build made no ${missing}.`);
// The tools leave alone what is as it was, and `npm start` compares times.
const now = new Date();
for (const file of products) utimesSync(file, now, now);
