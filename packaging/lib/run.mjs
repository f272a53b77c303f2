// Folders of consumers, and tools run in them.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

export const root = path.join(
  import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '..',
  '..',
);

/** An empty folder that goes when the test does. */
export function emptyFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'argvault-package-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A consumer's folder: its manifest and the programs of `fixtures/`. */
export function consumer(t, manifest = {}) {
  const folder = emptyFolder(t);
  const whole = { name: 'consumer', private: true, version: '1.0.0', ...manifest };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(whole));
  cpSync(path.join(root, 'packaging', 'fixtures'), folder, { recursive: true });
  return folder;
}

/**
 * Runs a tool in `cwd` with a home, caches and stores of that folder's own: nothing that this machine has may help, and
 * nothing of a test stays. Rejects with everything that it printed when it fails.
 */
export async function run(cwd, command, args, env = {}) {
  const home = path.join(cwd, '.home');
  const { PATH, LANG } = process.env;
  const own = {
    PATH,
    LANG,
    HOME: home,
    XDG_STATE_HOME: home,
    XDG_CACHE_HOME: home,
    XDG_DATA_HOME: home,
    CI: 'true',
  };
  try {
    const options = { cwd, env: { ...own, ...env }, timeout: 300_000, killSignal: 'SIGKILL' };
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}: ${error.message}\n${error.stdout}\n${error.stderr}`);
  }
}

export const runNode = (cwd, ...args) => run(cwd, process.execPath, args);
