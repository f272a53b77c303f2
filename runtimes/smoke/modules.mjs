import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esm from 'argvault';
import { refused } from '../lib/cases.mjs';

const require = createRequire(import.meta.url);

export const modules = {
  'import and require give the same objects': async () => {
    const cjs = require('argvault');
    assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());
    for (const [name, value] of Object.entries(esm)) assert.equal(value, cjs[name], name);
    assert.deepEqual(esm.isSupported(), { ok: true });
  },

  'a second copy, and one loaded anew, work beside the first': async ({ host, policy, vaultDir }) => {
    const file = require.resolve('argvault');
    const own = Object.keys(require.cache).filter(name => name.startsWith(path.dirname(file)));
    const saved = own.map(name => [name, require.cache[name]]);
    for (const name of own) delete require.cache[name];
    const anew = require('argvault');
    for (const [name, module] of saved) require.cache[name] = module;
    assert.notEqual(anew.CommandHost, esm.CommandHost);

    const other = new anew.CommandHost({ vaultDir: `${vaultDir}-anew` });
    await other.setBackgroundCommandPolicy(policy);
    const error = await refused(() => other.startBackgroundCommand(['rm']), 'ERR_EXECUTABLE_NOT_ALLOWED');
    assert.ok(esm.isArgvaultError(error) && error instanceof esm.ArgvaultError);
    for (const each of [other, host, other]) {
      assert.equal((await each.runCommand(['sh', '-c', 'exit 6'])).exitCode, 6);
    }
    await other.dispose();
  },

  'the default host is configured, disposed and re-armed': async ({ policy, vaultDir }) => {
    await esm.configureDefaultHost({ vaultDir: `${vaultDir}-default` });
    await esm.setBackgroundCommandPolicy(policy);
    const { taskId } = await esm.startBackgroundCommand(['sh', '-c', 'exec sleep 600']);
    assert.equal(esm.getBackgroundCommandPolicy().cwdRoot, policy.cwdRoot);
    await esm.dispose();
    assert.equal(esm.getBackgroundCommandStatus(taskId).cause, 'kill-all');
    await refused(() => esm.runCommand(['sh', '-c', 'exit 0']), 'ERR_DISPOSED');
    await esm.setBackgroundCommandPolicy(policy);
    assert.equal((await esm.runCommand(['sh', '-c', 'exit 7'])).exitCode, 7);
    await esm.dispose();
  },
};
