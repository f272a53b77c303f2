// Runs a script in a Node process of its own and brings back how it ended; a ceiling ends one that hangs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export async function runScript(source, { ceilingMs = 20_000, env = process.env, args = [] } = {}) {
  const child = spawn(process.execPath, ['--input-type=commonjs', '-e', source, ...args], { cwd: root, env });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].on('data', chunk => (out[name] += chunk));
  const stuck = setTimeout(() => child.kill('SIGKILL'), ceilingMs);
  const [code, signal] = await once(child, 'close');
  clearTimeout(stuck);
  return { code, signal, ...out };
}
