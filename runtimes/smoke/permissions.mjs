// Runtimes that can hold their own code back must be told to load addons, and the refusal says how.
import assert from 'node:assert/strict';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runHere } from './exits.mjs';

const script = fileURLToPath(new URL('permissions-host.mjs', import.meta.url));

function levels() {
  if ('Bun' in globalThis) return undefined;
  if ('Deno' in globalThis) {
    const held = ['run', '--no-prompt', '--no-lock', '--allow-read', '--allow-env'];
    return { held, free: [...held, '--allow-ffi'], flag: 'Start Deno with --allow-ffi' };
  }
  const permission = process.versions.node.startsWith('20.') ? '--experimental-permission' : '--permission';
  const held = [permission, '--allow-fs-read=*', '--no-warnings'];
  return { held, free: [...held, '--allow-addons'], flag: 'Start Node with --allow-addons' };
}

async function supportWith(flags) {
  const { stdout, stderr } = await runHere([...flags, script]);
  assert.match(stdout, /^\{/, stderr);
  return JSON.parse(stdout);
}

const given = levels();

export const permissions = given && {
  'where addons are not permitted, the refusal names the flag': async () => {
    const { ok, code, reason } = await supportWith(given.held);
    assert.deepEqual([ok, code], [false, 'ERR_PLATFORM']);
    assert.ok(reason.includes(given.flag), reason);
    assert.deepEqual(await supportWith(given.free), { ok: true });
  },
};
