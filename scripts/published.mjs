// The package as it is published, in `npm/argvault/`: what the sources have in a dozen files is one there, since finding,
// reading and compiling each takes longer than all that they do at the import.
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { platformDependencies, rootManifest } from './platform.mjs';
import { inRoot } from './project.mjs';

const ENTRIES = ['index.js', 'js/bin/argvault.js'];
const AS_THEY_ARE = [
  'index.mjs',
  'index.d.ts',
  'index.d.mts',
  'js/adapters',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
];

/**
 * The manifest of what is published. It depends on the platforms' packages, and the sources don't: named there, they
 * would have every clone's `npm ci` ask a registry for packages that are not there yet, and take whatever somebody else
 * put under their names.
 */
function publishedManifest() {
  const { private: _, scripts, devDependencies, napi, ...manifest } = rootManifest();
  return { ...manifest, optionalDependencies: platformDependencies() };
}

/** Puts the package together, ready for `npm pack`. */
export function fillPackage() {
  const folder = inRoot('npm', 'argvault');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  for (const name of AS_THEY_ARE) cpSync(inRoot(name), `${folder}/${name}`, { recursive: true });
  buildSync({
    absWorkingDir: inRoot(),
    entryPoints: ENTRIES,
    outbase: '.',
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.18',
    // The platforms' packages, of which there is one.
    packages: 'external',
    logLevel: 'warning',
  });
  chmodSync(`${folder}/js/bin/argvault.js`, 0o755);
  return folder;
}
