// Installs what the tests need, and puts the package there as npm would: from its tarballs, so that what is tested is
// what users get, beside a `node_modules` and not within this repository.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, inRoot, modifiedAt, run } from '../../scripts/project.mjs';
import { fillPackage } from '../../scripts/published.mjs';

export const here = inRoot('runtimes');
const modules = path.join(here, 'node_modules');

/** No install scripts: the binaries are in packages of their own, one for each processor. */
export function installTools() {
  const installed = modifiedAt(path.join(modules, '.package-lock.json'));
  if (installed >= modifiedAt(path.join(here, 'package-lock.json'))) return;
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', ...quiet], { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
}

function tarballOf(dir, into) {
  const args = ['pack', '--json', '--pack-destination', into];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: dir, encoding: 'utf8' });
  if (status !== 0) fail(`\`npm pack\` in ${dir} failed: ${stderr}`);
  return path.join(into, JSON.parse(stdout)[0].filename);
}

/** The package, and the platform packages that the build has filled. */
function packages() {
  const own = fillPackage();
  const filled = readdirSync(inRoot('npm'))
    .map(name => inRoot('npm', name))
    .filter(dir => readdirSync(dir).some(file => file.endsWith('.node')));
  return [own, ...filled];
}

export function placePackage() {
  const temporary = mkdtempSync(path.join(tmpdir(), 'argvault-pack-'));
  try {
    for (const dir of packages()) {
      const { name } = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));
      const target = path.join(modules, name);
      rmSync(target, { recursive: true, force: true });
      mkdirSync(target, { recursive: true });
      run('tar', ['-xzf', tarballOf(dir, temporary), '-C', target, '--strip-components', '1']);
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
