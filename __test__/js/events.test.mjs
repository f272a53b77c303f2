import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, message, wire } = fakes;
const over = (behaviour, options) => {
  const fake = fakeBinding(behaviour);
  const api = compose.compose(fake.load);
  return { fake, api, host: new api.CommandHost(options) };
};

test('started and settled are told to the listeners in order, also when both come in one batch', async () => {
  const seen = [];
  const { fake, host } = over(
    { start: (...args) => fake.owe(...args) },
    { onStarted: e => seen.push(['started', e.taskId]), onSettled: e => seen.push(['settled', e.taskId]) },
  );
  const start = host.startBackgroundCommand(['x']);
  fake.ports[0].deliver([
    message(fake.id, { taskId: 'quick', argv: ['x'], startedAt: 1 }),
    fake.settled('quick'),
  ]);
  await start;
  assert.deepEqual(seen, [
    ['started', 'quick'],
    ['settled', 'quick'],
  ]);
});

test('a refusal is told with argv as it was passed and the error that the caller gets', async () => {
  const seen = [];
  const { host } = over({ start: () => ({ wire: wire('ERR_NO_POLICY') }) }, { onRefused: e => seen.push(e) });
  const failure = await host.startBackgroundCommand('rm -rf /').catch(error => error);
  assert.deepEqual(seen, [{ argv: 'rm -rf /', error: failure }]);
});

test('an event reaches its own host only', async () => {
  const seen = [];
  const fake = fakeBinding();
  const api = compose.compose(fake.load);
  const [one, two] = ['one', 'two'].map(name => new api.CommandHost({ onSettled: () => seen.push(name) }));
  await Promise.all([one.startBackgroundCommand(['x']), two.startBackgroundCommand(['x'])]);
  fake.settle('task-1', fake.hosts[1]);
  assert.deepEqual(seen, ['two']);
  fake.settle('task-1', fake.hosts[0]);
  assert.deepEqual(seen, ['two', 'one']);
});

test('listeners that throw or reject become a warning and change nothing', async () => {
  const failing = {
    onStarted: () => {
      throw new Error('from onStarted');
    },
    onSettled: async () => {
      throw new Error('from onSettled');
    },
  };
  const { fake, host } = over({}, failing);
  const first = once(process, 'warning');
  assert.equal((await host.startBackgroundCommand(['x'])).taskId, 'task-1');
  const [warning] = await first;
  assert.equal(warning.name, 'ArgvaultListenerWarning');
  assert.match(warning.detail, /from onStarted/);
  const second = once(process, 'warning');
  fake.settle('task-1');
  assert.match((await second)[0].detail, /from onSettled/);
});

test('the same events go to the diagnostics channels', async t => {
  const seen = [];
  for (const name of ['start', 'settled', 'refused']) {
    const listener = (message, channel) => seen.push([channel, message.taskId ?? message.error.code]);
    diagnostics.subscribe(`argvault:${name}`, listener);
    t.after(() => diagnostics.unsubscribe(`argvault:${name}`, listener));
  }
  const { fake, host } = over({
    start: argv =>
      argv[0] === 'no' ? { wire: wire('ERR_EXECUTABLE_NOT_ALLOWED') } : { taskId: 't', argv, startedAt: 1 },
  });
  await host.startBackgroundCommand(['x']);
  fake.settle('t');
  await host.startBackgroundCommand(['no']).catch(() => {});
  assert.deepEqual(seen, [
    ['argvault:start', 't'],
    ['argvault:settled', 't'],
    ['argvault:refused', 'ERR_EXECUTABLE_NOT_ALLOWED'],
  ]);
});

test('an end that nobody hears is not asked about; a subscriber counts from the moment it subscribes', async t => {
  const { fake, host } = over();
  await host.startBackgroundCommand(['x']);
  fake.settle('task-1');
  assert.deepEqual(fake.of('settled'), [['task-1', false]], 'the native side may forget it');

  const seen = [];
  await host.startBackgroundCommand(['x']);
  const listener = status => seen.push(status);
  diagnostics.subscribe('argvault:settled', listener);
  t.after(() => diagnostics.unsubscribe('argvault:settled', listener));
  fake.settle('task-1');
  assert.deepEqual(fake.of('settled').at(-1), ['task-1', true]);
  assert.deepEqual(seen, [{ taskId: 'task-1' }]);
});
