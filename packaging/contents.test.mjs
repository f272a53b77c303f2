// What is published: these files, with these modes, and manifests by which a package manager picks the right ones.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { platformDependencies } from '../scripts/platform.mjs';
import { entryPoints, fileIn, manifestIn, packed, platform } from './lib/packed.mjs';
import { root } from './lib/run.mjs';

const inRoot = (...parts) => path.join(root, ...parts);
const platformPackage = `argvault-${platform}`;
const pathsIn = name => packed[name].files.map(file => file.path).sort();
const modeIn = (name, file) => packed[name].files.find(({ path: found }) => found === file).mode & 0o777;

test('the package holds exactly its face, its JavaScript in one file, its adapters, its tool and its papers', () => {
  const adapters = readdirSync(inRoot('js', 'adapters'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)));
  const stray = adapters.filter(file => !/\.(js|mjs|cjs|d\.ts|d\.mts|d\.cts)$/.test(file));
  assert.deepEqual(stray, []);
  const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
  const face = ['index.js', 'index.mjs', 'index.d.ts', 'index.d.mts', 'js/bin/argvault.js'];
  assert.deepEqual(pathsIn('argvault'), [...papers, ...face, ...adapters].sort());
  assert.doesNotMatch(fileIn('argvault', 'index.js'), /require\(["']\./);
});

test('every platform that is published is one that is looked for', () => {
  const loaded = fileIn('argvault', 'index.js').match(/(?<=require\(")argvault-[^"]+/g);
  assert.deepEqual(loaded.sort(), Object.keys(platformDependencies()).sort());
});

test('the platform package holds the binaries of this build and nothing else', () => {
  const addon = `argvault.${platform}.node`;
  const expected = ['LICENSE', 'README.md', 'argvault-warden', addon, 'package.json'];
  assert.deepEqual(pathsIn(platformPackage), expected.sort());
  for (const file of ['argvault-warden', addon]) {
    const same = readFileSync(inRoot('npm', platform, file)).equals(readFileSync(inRoot(file)));
    assert.ok(same, `npm/${platform}/${file} is of another build than ${file}: run \`npm run build\``);
  }
});

test('the warden is packed with its run bit, and the command line tool too', () => {
  assert.equal(modeIn(platformPackage, 'argvault-warden'), 0o755);
  assert.equal(modeIn('argvault', 'js/bin/argvault.js'), 0o755);
});

test('the package installs everywhere and asks for each platform by its exact version', () => {
  const manifest = manifestIn('argvault');
  for (const field of ['os', 'cpu', 'libc', 'dependencies']) assert.equal(manifest[field], undefined, field);
  const { version } = manifest;
  const expected = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl'];
  assert.deepEqual(
    manifest.optionalDependencies,
    Object.fromEntries(expected.map(name => [`argvault-${name}`, version])),
  );
  assert.equal(packed[platformPackage].version, version);
  assert.ok(readFileSync(inRoot('Cargo.toml'), 'utf8').includes(`\nversion = "${version}"\n`));
});

test('the platform package names system, processor and C library', () => {
  const [os, cpu, abi] = platform.split('-');
  const manifest = manifestIn(platformPackage);
  assert.deepEqual(
    { os: manifest.os, cpu: manifest.cpu, libc: manifest.libc, unplugged: manifest.preferUnplugged },
    { os: [os], cpu: [cpu], libc: [abi === 'gnu' ? 'glibc' : 'musl'], unplugged: true },
  );
});

test('the sources are not to be published and name no package of a platform', () => {
  const { private: isPrivate, optionalDependencies = {} } = JSON.parse(
    readFileSync(inRoot('package.json'), 'utf8'),
  );
  assert.equal(isPrivate, true);
  assert.equal(manifestIn('argvault').private, undefined);
  const lock = readFileSync(inRoot('package-lock.json'), 'utf8');
  for (const name of Object.keys(platformDependencies())) {
    assert.ok(!(name in optionalDependencies) && !lock.includes(name), name);
  }
});

test('every entry point has its files, types for both module systems among them', () => {
  const shipped = new Set(pathsIn('argvault').map(file => `./${file}`));
  assert.ok(entryPoints().length > 0);
  for (const { specifier, files } of entryPoints()) {
    assert.deepEqual(
      files.filter(file => !shipped.has(file)),
      [],
      specifier,
    );
    assert.ok(
      files.some(file => /\.d\.[mc]?ts$/.test(file)),
      specifier,
    );
  }
});
