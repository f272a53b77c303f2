// Run by npm around `npm pack` and `npm publish` at the root: what is published depends on the platforms' packages, and
// the sources don't. Named in the sources, they would have every clone's `npm ci` ask a registry for packages that are
// not there yet, and take whatever somebody else put under their names.
import { existsSync, writeFileSync } from 'node:fs';
import { platformDependencies, rootManifest } from './platform.mjs';
import { fail, inRoot } from './project.mjs';

const { optionalDependencies: _, ...sources } = rootManifest();
const write = manifest => writeFileSync(inRoot('package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const [when] = process.argv.slice(2);
if (when === 'before') {
  if (!existsSync(inRoot('binding.js'))) fail('there is no binding.js to pack. Run `npm run build` first.');
  write({ ...sources, optionalDependencies: platformDependencies(sources) });
} else if (when === 'after') {
  write(sources);
} else {
  fail('npm runs this: `scripts/pack.mjs before` and `after` packing.');
}
