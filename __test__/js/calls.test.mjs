import assert from 'node:assert/strict';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, wire } = fakes;
const over = behaviour => {
  const fake = fakeBinding(behaviour);
  return { fake, api: compose.compose(fake.load) };
};

test('a completion resolves the promise of its call and no other', async () => {
  const { api } = over({ killAll: () => 3, readArtifact: id => `text of ${id}` });
  assert.deepEqual(await Promise.all([api.readArtifact('a'), api.killAll(), api.readArtifact('b')]), [
    'text of a',
    3,
    'text of b',
  ]);
});

test('a failure arrives as an ArgvaultError with code, message, hint and details', async () => {
  const { api } = over({ kill: () => ({ wire: wire('ERR_UNKNOWN_TASK', 'No background command "x".') }) });
  await assert.rejects(api.killBackgroundCommand('x'), error => {
    assert.ok(error instanceof api.ArgvaultError && error instanceof Error && api.isArgvaultError(error));
    assert.equal(error.name, 'ArgvaultError');
    const { code, message, hint, details } = error;
    assert.deepEqual(
      { code, message, hint, details },
      {
        code: 'ERR_UNKNOWN_TASK',
        message: 'No background command "x".',
        hint: 'hint',
        details: { about: 'test' },
      },
    );
    return true;
  });
});

test('a failure and a throw of the native call are rejections too', async () => {
  const broken = () => {
    throw new RangeError('broken');
  };
  const { api } = over({
    killAll: () => ({ wire: wire('ERR_DISPOSED') }),
    list: broken,
    create: undefined,
  });
  await assert.rejects(api.killAll(), { code: 'ERR_DISPOSED' });
  await assert.rejects(api.listCommands(), RangeError);
});

test('sync getters return the value or throw the coded error', () => {
  const { api } = over({
    status: id => (id === 'a' ? { ok: { taskId: 'a' } } : { error: wire('ERR_UNKNOWN_TASK') }),
  });
  assert.deepEqual(api.getBackgroundCommandStatus('a'), { taskId: 'a' });
  assert.throws(() => api.getBackgroundCommandStatus('b'), { code: 'ERR_UNKNOWN_TASK' });
});

test('absent arguments stay absent and the rest goes through untouched', async () => {
  const { fake, api } = over();
  await api.killBackgroundCommand('x');
  await api.readBackgroundCommandOutput('x');
  const options = { limit: Number.NaN, unknown: 1 };
  await api.readBackgroundCommandOutput('x', options);
  assert.deepEqual(fake.of('kill'), [['x', undefined]]);
  assert.deepEqual(fake.of('readOutput')[0], ['x', undefined]);
  assert.equal(fake.of('readOutput')[1][1], options);
});

test('a start takes a snapshot of the environment as JavaScript sees it', async t => {
  const { fake, api } = over();
  process.env.ARGVAULT_TEST_MARK = 'seen';
  t.after(() => delete process.env.ARGVAULT_TEST_MARK);
  await api.startBackgroundCommand(['x']);
  process.env.ARGVAULT_TEST_MARK = 'later';
  fake.settle('task-1');
  const parts = fake.of('start')[0][2].split('\0');
  assert.equal(parts.pop(), '', 'each part is ended, the last one too');
  const names = parts.filter((_, at) => at % 2 === 0);
  assert.deepEqual(names, Object.keys(process.env));
  assert.equal(parts[2 * names.indexOf('ARGVAULT_TEST_MARK') + 1], 'seen');
});

test("what no joined string can say of a program's own process.env crosses as it is", async t => {
  const { fake, api } = over({ start: () => ({ wire: wire('ERR_BAD_ENV') }) });
  const { env } = process;
  t.after(() => {
    process.env = env;
  });
  const odd = [
    { A: 5 },
    { A: undefined },
    { A: 'a\0b' },
    { 'A\0B': 'c' },
    { A: '\ud800' },
    { [Symbol('a')]: 'b' },
  ];
  for (const given of odd) {
    process.env = given;
    await api.startBackgroundCommand(['x']).catch(() => {});
    assert.deepEqual(fake.of('start').at(-1)[2], given);
  }
  process.env = { 'A=B': 'c', '': 'd' };
  await api.startBackgroundCommand(['x']).catch(() => {});
  assert.equal(fake.of('start').at(-1)[2], 'A=B\0c\0\0d\0', 'judged by the native side');
});

test("a start with its own env is not given the host's", async () => {
  const { fake, api } = over();
  await api.startBackgroundCommand(['x'], { env: {} });
  fake.settle('task-1');
  assert.equal(fake.of('start')[0][2], undefined);
});

test('one port serves all hosts of an environment', async () => {
  const { fake, api } = over({ killAll: () => 0 });
  await Promise.all([new api.CommandHost().killAll(), new api.CommandHost().killAll(), api.killAll()]);
  assert.equal(fake.ports.length, 1);
  assert.equal(fake.hosts.length, 3);
  assert.deepEqual(
    fake.hosts.map(host => host.hostId),
    [1, 2, 3],
  );
});

test('an error of another copy of the package is known, other errors are not', () => {
  const [one, two] = [over().api, over().api];
  const error = new two.ArgvaultError(wire('ERR_DISPOSED'));
  assert.ok(one.isArgvaultError(error));
  const foreign = Object.assign(new Error('x'), { [Symbol.for('argvault.error')]: true });
  assert.ok(one.isArgvaultError(foreign));
  for (const other of [new Error('x'), { code: 'ERR_DISPOSED' }, null, undefined, 'ERR_DISPOSED']) {
    assert.equal(one.isArgvaultError(other), false);
  }
});
