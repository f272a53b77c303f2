// The tarballs under test, made once by `scripts/test-package.mjs`, and what lies in them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const folder = process.env.ARGVAULT_PACKED;
if (folder === undefined) throw new Error('These tests run by `npm run test:package`.');

export const platform = process.env.ARGVAULT_PLATFORM;
export const packed = JSON.parse(readFileSync(path.join(folder, 'packed.json'), 'utf8'));
export const tarballs = Object.values(packed).map(({ file }) => file);

/** A file of a tarball. */
export const fileIn = (name, file) =>
  execFileSync('tar', ['-xOzf', packed[name].file, `package/${file}`], { encoding: 'utf8' });

export const manifestIn = name => JSON.parse(fileIn(name, 'package.json'));

/** Every entry point of the package: its subpath, and the files behind its conditions. */
export function entryPoints() {
  const { exports } = manifestIn('argvault');
  const files = value => (typeof value === 'string' ? [value] : Object.values(value).flatMap(files));
  return Object.entries(exports)
    .filter(([subpath]) => subpath !== './package.json')
    .map(([subpath, value]) => ({ specifier: path.posix.join('argvault', subpath), files: files(value) }));
}
