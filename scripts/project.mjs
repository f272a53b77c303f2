// What the scripts share: where things are, whether they are up to date, how a tool is run. No dependencies, since
// these run before any is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
export const inRoot = (...parts) => path.join(root, ...parts);

export const modifiedAt = file => (existsSync(file) ? statSync(file).mtimeMs : Number.NEGATIVE_INFINITY);

function* filesBelow(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) yield path.join(entry.parentPath ?? entry.path, entry.name);
  }
}

/** Files below `dir` whose names end so, sorted. */
export const filesEndingWith = (dir, ending) =>
  [...filesBelow(inRoot(dir))].filter(f => f.endsWith(ending)).sort();

/** Runs a tool with this terminal and ends the script with its status if it fails. */
export function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error?.code === 'ENOENT') fail(`\`${command}\` was not found. ${needs(command)}`);
  if (status !== 0)
    fail(`\`${command} ${args.join(' ')}\` ended with ${signal ?? `status ${status ?? error?.code}`}.`);
}

export function fail(message) {
  console.error(`argvault: ${message}`);
  process.exit(1);
}

function needs(command) {
  if (['cargo', 'rustc'].includes(command)) return 'Install stable Rust, 1.88 or later.';
  return 'Install it and try again.';
}

/** Installs the locked dependencies of a folder unless its last install is younger than the lock. */
export function install(folder = root) {
  // npm writes this file last.
  const installed = modifiedAt(path.join(folder, 'node_modules', '.package-lock.json'));
  if (installed >= modifiedAt(path.join(folder, 'package-lock.json'))) return;
  run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}

export const builtAddons = () => readdirSync(root).filter(name => /^argvault\..*\.node$/.test(name));

/** Whether anything that is built from source is missing or older than its source. */
export function isStale() {
  const addons = builtAddons();
  if (addons.length === 0) return true;
  const built = [...addons, 'argvault-warden'].map(name => modifiedAt(inRoot(name)));
  const sources = [
    ...filesBelow(inRoot('src')),
    ...['Cargo.toml', 'Cargo.lock', 'build.rs', 'scripts/build.mjs'].map(f => inRoot(f)),
  ];
  return Math.min(...built) < Math.max(...sources.map(modifiedAt));
}
