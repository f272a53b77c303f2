import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import { root } from '../helpers/child.mjs';
import fakes from '../helpers/fake-binding.js';

const tools = JSON.parse(readFileSync(`${root}/schema/tools.json`, 'utf8'));
/** What a model names a program to is open to all the world. */
const starts = ({ annotations }) => annotations.openWorldHint;
const namesOf = kind => tools.filter(kind).map(({ name }) => name);

/** A host, and how often `process.env` has been read in full since it was made. */
function watched(t) {
  const fake = fakes.fakeBinding({ executeTool: () => ({ result: {} }) });
  const host = new (compose.compose(fake.load).CommandHost)();
  const own = process.env;
  const reads = { count: 0 };
  const ownKeys = target => {
    reads.count += 1;
    return Reflect.ownKeys(target);
  };
  process.env = new Proxy({ ARGVAULT_TEST: 'as it is now' }, { ownKeys });
  t.after(() => {
    process.env = own;
  });
  return { fake, host, reads };
}

test('a tool that starts what a model names gets the environment as it is now', async t => {
  const { fake, host } = watched(t);
  const names = namesOf(starts);
  assert.deepEqual(names, ['run_command_bg']);
  for (const name of names) await host.executeTool(name, { argv: ['x'] });
  for (const [, , , env] of fake.of('executeTool')) assert.equal(env, 'ARGVAULT_TEST\0as it is now\0');
});

test('no other tool has the environment read', async t => {
  const { fake, host, reads } = watched(t);
  const names = namesOf(tool => !starts(tool));
  assert.ok(names.length > 10);
  for (const name of names) await host.executeTool(name, {});
  assert.equal(fake.of('executeTool').length, names.length);
  assert.equal(reads.count, 0);
});
