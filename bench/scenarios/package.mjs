// What a user gets before the first command: the time of the import, in a fresh Node, and the size on disk.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { fillPackage } from '../../scripts/published.mjs';
import { inTurns, Samples } from '../lib/measure.mjs';
import { inBench, inRoot } from '../lib/paths.mjs';

export const ceilingMs = 120_000;

export const plan = ({ quick, tiny }) => [{ rounds: tiny ? 1 : quick ? 7 : 21 }];

/** The packages that would be published, as an install has them; answers where one is imported from. */
function installed(folders, modules) {
  for (const folder of folders) {
    const { name } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    cpSync(folder, path.join(modules, name), { recursive: true });
  }
  return pathToFileURL(path.join(modules, 'argvault', 'index.mjs')).href;
}

const importsOf = own => ({
  argvault: `import('${own}')`,
  execa: "import('execa')",
  tinyexec: "import('tinyexec')",
  'nano-spawn': "import('nano-spawn')",
  child_process: "import('node:child_process')",
});

function millisecondsOf(expression) {
  const script = `const begun = performance.now(); ${expression}.then(() => console.log(performance.now() - begun))`;
  return Number(execFileSync(process.execPath, ['-e', script], { cwd: inBench(), encoding: 'utf8' }));
}

function unpackedSize(cwd) {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const said = execFileSync('npm', pack, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(said)[0].unpackedSize;
}

export async function run({ rounds }, { places }) {
  fillPackage();
  const folders = readdirSync(inRoot('npm')).map(name => inRoot('npm', name));
  const imports = importsOf(installed(folders, path.join(places.make('consumer'), 'node_modules')));
  // The addon is loaded at its first use; this is the cheapest one.
  const used = `${imports.argvault}.then(({ isSupported }) => isSupported())`;
  const [imported, loaded, size] = [new Samples(), new Samples(), new Samples()];
  await inTurns(rounds, [...Object.keys(imports), 'loaded'], name => {
    if (name === 'loaded') loaded.add('argvault', millisecondsOf(used));
    else imported.add(name, millisecondsOf(imports[name]));
  });
  size.add('argvault', folders.map(unpackedSize).reduce((sum, bytes) => sum + bytes) / 1e6);
  return [
    imported.line('import', 'import in a fresh Node', 'ms'),
    loaded.line('import.loaded', 'import with the addon loaded (isSupported)', 'ms'),
    size.line('size', 'package unpacked, with the binaries of this platform', 'MB'),
  ];
}
