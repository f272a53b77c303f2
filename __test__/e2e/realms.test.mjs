// Test runners load packages in a realm of their own (`node:vm`), where the objects of the addon are foreign.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { root } from '../helpers/child.mjs';
import { makePlace, refused } from '../helpers/host.mjs';

/** The package as a test runner loads it: its JavaScript in `context`, the addon and Node's own modules outside. */
function packageIn(context) {
  const loaded = new Map();
  const load = file => {
    const outside = createRequire(file);
    if (loaded.has(file)) return loaded.get(file).exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const source = `(function (module, exports, require, __dirname) {${readFileSync(file, 'utf8')}\n})`;
    const inside = name => (name.startsWith('.') ? load(outside.resolve(name)) : outside(name));
    vm.runInContext(source, context, { filename: file })(module, module.exports, inside, path.dirname(file));
    return module.exports;
  };
  return load(path.join(root, 'index.js'));
}

/** Where in `value` there are objects that are not of this realm. */
function foreign(value, realm, at = 'value') {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  const { prototype } = Array.isArray(value) ? realm.Array : realm.Object;
  const own = Object.getPrototypeOf(value) === prototype ? [] : [at];
  return [...own, ...Object.entries(value).flatMap(([key, entry]) => foreign(entry, realm, `${at}.${key}`))];
}

async function hostIn(t, events) {
  const context = vm.createContext({ process, Buffer, TextDecoder });
  const realm = vm.runInContext('({ Object, Array, Uint8Array, Error })', context);
  const argvault = packageIn(context);
  const opened = {};
  const { root: cwdRoot, vaultDir } = await makePlace(t, () => opened.host?.dispose());
  const inside = source => vm.runInContext(`(${source})`, context);
  const host = new argvault.CommandHost({ vaultDir, ...events });
  opened.host = host;
  const policy = inside(JSON.stringify({ allowedExecutables: ['sh'], cwdRoot }));
  return { host, argvault, realm, inside, answer: await host.setBackgroundCommandPolicy(policy) };
}

test('in another realm every answer and event is of that realm', async t => {
  const events = [];
  const listeners = { onStarted: e => events.push(e), onSettled: e => events.push(e) };
  const { host, argvault, realm, inside, answer } = await hostIn(t, listeners);
  const status = await host.runCommand(inside(`['sh', '-c', 'echo hi; exit 3']`));
  assert.deepEqual([status.state, status.exitCode, events.length], ['exited', 3, 2]);
  const answers = {
    answer,
    started: events[0],
    settled: events[1],
    status,
    again: host.getBackgroundCommandStatus(status.taskId),
    policy: host.getBackgroundCommandPolicy(),
    support: argvault.isSupported(),
    found: await host.searchOutput(status.taskId, inside(`{ pattern: 'hi' }`)),
    list: await host.listCommands(),
  };
  for (const [name, value] of Object.entries(answers)) {
    assert.deepEqual(foreign(value, realm, name), [], name);
  }
  const bytes = await host.readArtifactBytes(status.stdout.artifactId);
  assert.deepEqual(bytes, Buffer.from('hi\n'));
});

test('values of another realm are taken like those of this one', async t => {
  const { host, inside } = await hostIn(t);
  const options = inside(`{ input: new Uint8Array([104, 105]), env: { NAME: 'value' }, timeoutMs: 5000 }`);
  const status = await host.runCommand(inside(`['sh', '-c', 'cat; echo " $NAME"']`), options);
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'hi value\n');
  assert.equal(status.timeoutMs, 5000);
});

test('a refusal in another realm is an error of that realm, and known in every copy', async t => {
  const { host, argvault, realm } = await hostIn(t);
  const copy = packageIn(vm.createContext({ process, Buffer, TextDecoder }));
  const error = await refused(host.startBackgroundCommand(['rm']), 'ERR_EXECUTABLE_NOT_ALLOWED');
  assert.ok(error instanceof realm.Error);
  assert.deepEqual(foreign(error.details, realm), []);
  for (const { ArgvaultError, isArgvaultError } of [argvault, copy]) {
    assert.ok(error instanceof ArgvaultError && isArgvaultError(error));
    assert.ok(!(new Error('other') instanceof ArgvaultError) && !isArgvaultError(new Error('other')));
  }
});
