// The adapters against the real SDKs, which are installed in a folder of their own. `--neurolink` also installs and
// runs NeuroLink; `--install` does no more than to install.
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { builtAddons, fail, filesEndingWith, inRoot, install, root, run } from './project.mjs';
import { fillPackage } from './published.mjs';

// What the newest of the SDKs ask for.
const OLDEST_NODE = 22;
const sdks = inRoot('sdks');
const withNeurolink = process.argv.includes('--neurolink') || process.env.ARGVAULT_TEST_NEUROLINK === '1';

install(sdks);
if (withNeurolink) install(path.join(sdks, 'neurolink'));
if (process.argv.includes('--install')) process.exit();
if (builtAddons().length === 0) fail('There is no built addon. Run `npm run build` first.');

// A package finds its peers from where it lies, so the built tree is copied to where the SDKs are.
const installed = path.join(sdks, 'node_modules', 'argvault');
rmSync(installed, { recursive: true, force: true });
cpSync(fillPackage(), installed, { recursive: true });
for (const file of ['argvault-warden', ...builtAddons()]) cpSync(inRoot(file), path.join(installed, file));

for (const folder of [sdks, path.join(sdks, 'neurolink')]) {
  const work = path.join(folder, 'work');
  rmSync(work, { recursive: true, force: true });
  cpSync(inRoot('examples', 'sdks'), path.join(work, 'examples'), { recursive: true });
}

const tsc = inRoot('node_modules', 'typescript', 'bin', 'tsc');
for (const resolution of ['node16', 'bundler']) {
  run(process.execPath, [tsc, '-p', `sdks/types/tsconfig.${resolution}.json`]);
}
if (withNeurolink) run(process.execPath, [tsc, '-p', 'sdks/neurolink/tsconfig.json']);

const isOld = Number.parseInt(process.versions.node, 10) < OLDEST_NODE;
const node = isOld ? path.join(sdks, 'node_modules', 'node', 'bin', 'node') : process.execPath;
const tests = filesEndingWith('sdks', '.test.mjs').filter(file => !file.includes('node_modules'));
const relative = tests.map(file => path.relative(root, file));
run(node, ['--test', '--test-timeout=300000', '--test-reporter=spec', ...relative], {
  env: { ...process.env, ARGVAULT_TEST_NEUROLINK: withNeurolink ? '1' : '' },
});
