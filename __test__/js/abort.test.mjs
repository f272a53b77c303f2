import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, wire } = fakes;
const over = behaviour => {
  const fake = fakeBinding(behaviour);
  return { fake, api: compose.compose(fake.load) };
};
const listeners = signal => getEventListeners(signal, 'abort').length;

test('a signal that has fired already is passed on as a fact, and leaves no listener', async () => {
  const { fake, api } = over({
    start: (_argv, _options, _env, aborted) => (aborted ? { wire: wire('ERR_ABORTED') } : {}),
  });
  const abortSignal = AbortSignal.abort();
  await assert.rejects(api.startBackgroundCommand(['x'], { abortSignal }), { code: 'ERR_ABORTED' });
  assert.equal(listeners(abortSignal), 0);
  assert.equal(fake.of('abort').length, 0);
});

test('an abort while the start is under way cancels the call', async () => {
  const { fake, api } = over({ start: (...args) => fake.owe(...args) });
  const controller = new AbortController();
  const start = api.startBackgroundCommand(['x'], { abortSignal: controller.signal });
  controller.abort();
  assert.deepEqual(fake.of('cancel'), [[fake.id]]);
  fake.reply(fake.id, wire('ERR_ABORTED'), false);
  await assert.rejects(start, { code: 'ERR_ABORTED' });
  assert.equal(listeners(controller.signal), 0);
});

test('a start that was made all the same is ended, though its signal fired before the handle came', async () => {
  const { fake, api } = over({ start: (...args) => fake.owe(...args) });
  const controller = new AbortController();
  const start = api.startBackgroundCommand(['x'], { abortSignal: controller.signal });
  controller.abort();
  fake.reply(fake.id, { taskId: 'late', argv: ['x'], startedAt: 1 });
  assert.equal((await start).taskId, 'late');
  assert.deepEqual(fake.of('abort'), [['late']]);
  fake.settle('late');
});

test('an abort while it runs kills it once, and settling takes the listener away', async () => {
  const { fake, api } = over();
  const controller = new AbortController();
  await api.startBackgroundCommand(['x'], { abortSignal: controller.signal, label: 'l' });
  assert.deepEqual(fake.of('start')[0][1], { label: 'l' });
  assert.equal(listeners(controller.signal), 1);
  controller.abort();
  controller.abort();
  assert.deepEqual(fake.of('abort'), [['task-1']]);
  fake.settle('task-1');
  assert.equal(listeners(controller.signal), 0);
});

test('an abort after it has settled does nothing', async () => {
  const { fake, api } = over();
  const controller = new AbortController();
  await api.startBackgroundCommand(['x'], { abortSignal: controller.signal });
  fake.settle('task-1');
  controller.abort();
  assert.deepEqual(fake.of('abort'), []);
});

test('many commands on one signal share a listener, and an abort reaches each', async () => {
  let count = 0;
  const { fake, api } = over({ start: () => ({ taskId: `task-${++count}`, argv: ['x'], startedAt: 1 }) });
  const controller = new AbortController();
  const options = { abortSignal: controller.signal };
  await Promise.all(Array.from({ length: 20 }, () => api.startBackgroundCommand(['x'], options)));
  assert.equal(listeners(controller.signal), 1);
  fake.settle('task-1');
  controller.abort();
  assert.equal(fake.of('abort').length, 19);
  for (let i = 2; i <= 20; i += 1) fake.settle(`task-${i}`);
  assert.equal(listeners(controller.signal), 0);
});

test('the abort of a wait ends the wait only', async () => {
  const { fake, api } = over({
    wait: (...args) => fake.owe(...args),
    cancel: id => {
      fake.reply(id, { state: 'running' });
    },
  });
  const controller = new AbortController();
  const wait = api.awaitBackgroundCommand('task-1', { abortSignal: controller.signal, timeoutMs: 9 });
  controller.abort();
  assert.deepEqual(await wait, { state: 'running' });
  assert.deepEqual(fake.of('wait'), [['task-1', { timeoutMs: 9 }]]);
  assert.deepEqual(fake.of('abort'), []);
  assert.equal(listeners(controller.signal), 0);
  const at = await api.awaitBackgroundCommand('task-1', { abortSignal: AbortSignal.abort() });
  assert.deepEqual(at, { state: 'running' });
});

test('runCommand is start and wait in one', async () => {
  const { fake, api } = over({ wait: () => ({ state: 'exited' }) });
  assert.deepEqual(await api.runCommand(['x'], { cwd: '/' }), { state: 'exited' });
  assert.deepEqual(fake.of('wait'), [['task-1', undefined]]);
  fake.settle('task-1');
});

test('what is no signal stays in the options, for Rust to refuse', async () => {
  for (const abortSignal of [null, 5, {}, new AbortController()]) {
    const { fake, api } = over({ start: () => ({ wire: wire('ERR_BAD_OPTION') }) });
    const options = { abortSignal };
    await assert.rejects(api.startBackgroundCommand(['x'], options), { code: 'ERR_BAD_OPTION' });
    assert.equal(fake.of('start')[0][1], options);
  }
});

test('only an own abortSignal counts; undefined is absent', async () => {
  let count = 0;
  const { fake, api } = over({ start: () => ({ taskId: `task-${++count}`, argv: ['x'], startedAt: 1 }) });
  const inherited = Object.create({ abortSignal: AbortSignal.abort() });
  await api.startBackgroundCommand(['x'], inherited);
  await api.startBackgroundCommand(['x'], { abortSignal: undefined, cwd: '.' });
  const [first, second] = fake.of('start');
  assert.equal(first[1], inherited);
  assert.equal(first[3], false);
  assert.deepEqual(second[1], { cwd: '.' });
  for (const taskId of ['task-1', 'task-2']) fake.settle(taskId);
});
