import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, wire } = fakes;
const handle = { taskId: 'task-1', argv: ['x', 'y'], startedAt: 1 };
const asking = (question, timeoutMs = 60_000) => ({
  question,
  ticket: 7,
  request: { argv: ['x', 'y'], cwd: '/work', executable: '/bin/x' },
  timeoutMs,
});

async function over(policy, behaviour) {
  const fake = fakeBinding(behaviour);
  const api = compose.compose(fake.load);
  await api.setBackgroundCommandPolicy(policy);
  return { fake, api };
}
const base = { allowedExecutables: ['x'], cwdRoot: '/' };

test('approve sees the request, allowlist sees argv and cwd, and each word goes back unjudged', async () => {
  const seen = [];
  const policy = {
    ...base,
    approve: request => seen.push(request),
    allowlist: async (...args) => {
      seen.push(args);
      return 'no, thanks';
    },
  };
  const { fake, api } = await over(policy, {
    start: () => asking('approve'),
    answer: (_ticket, reply) =>
      reply.value === 1 ? asking('allowlist') : { wire: wire('ERR_VETOED', reply.value) },
  });
  await assert.rejects(api.startBackgroundCommand(['x', 'y']), { code: 'ERR_VETOED', message: 'no, thanks' });
  assert.deepEqual(seen, [asking('approve').request, [['x', 'y'], '/work']]);
  assert.deepEqual(fake.of('answer'), [
    [7, { value: 1 }],
    [7, { value: 'no, thanks' }],
  ]);
});

test('the request is frozen, with all that is in it', async () => {
  const question = asking('approve');
  question.request.confinement = { level: 'required', write: ['/work'], enforced: { write: 'enforced' } };
  const refusals = [];
  const tampering = request => {
    for (const change of [
      () => request.argv.push('z'),
      () => {
        request.cwd = '/';
      },
      () => request.confinement.write.push('/'),
      () => {
        request.confinement.enforced.write = 'unavailable';
      },
    ]) {
      try {
        change();
      } catch (error) {
        refusals.push(error.name);
      }
    }
    return true;
  };
  const { api, fake } = await over(
    { ...base, approve: tampering },
    { start: () => question, answer: () => handle },
  );
  await api.startBackgroundCommand(['x', 'y']);
  assert.deepEqual(refusals, Array(4).fill('TypeError'));
  fake.settle('task-1');
});

test('what allowlist does to its argv reaches nobody', async () => {
  const question = asking('allowlist');
  const { fake, api } = await over(
    { ...base, allowlist: argv => argv.splice(0).length > 0 },
    {
      start: () => question,
      answer: () => handle,
    },
  );
  await api.startBackgroundCommand(['x', 'y']);
  assert.deepEqual(question.request.argv, ['x', 'y']);
  assert.deepEqual(fake.of('answer'), [[7, { value: true }]]);
  fake.settle('task-1');
});

test('a hook that throws or rejects answers with its message', async () => {
  const hooks = [
    () => {
      throw new Error('sync');
    },
    async () => {
      throw new Error('async');
    },
    () => Promise.reject('a string'),
  ];
  const replies = [];
  for (const allowlist of hooks) {
    const { fake, api } = await over(
      { ...base, allowlist },
      {
        start: () => asking('allowlist'),
        answer: () => ({ wire: wire('ERR_VETOED') }),
      },
    );
    await assert.rejects(api.startBackgroundCommand(['x']), { code: 'ERR_VETOED' });
    replies.push(fake.of('answer')[0][1]);
  }
  assert.deepEqual(replies, [{ thrown: 'sync' }, { thrown: 'async' }, { thrown: 'a string' }]);
});

test('a hook that never answers is reported as out of time', async () => {
  const { fake, api } = await over(
    { ...base, approve: () => new Promise(() => {}) },
    {
      start: () => asking('approve', 5),
      answer: () => ({ wire: wire('ERR_APPROVAL_DENIED') }),
    },
  );
  await assert.rejects(api.startBackgroundCommand(['x']), { code: 'ERR_APPROVAL_DENIED' });
  assert.deepEqual(fake.of('answer'), [[7, { timedOut: true }]]);
});

test('a bound beyond the longest delay of a timer is not a short one', async () => {
  const approve = () => new Promise(resolve => setTimeout(resolve, 20, true));
  const { fake, api } = await over(
    { ...base, approve },
    {
      start: () => asking('approve', 2 ** 40),
      answer: () => handle,
    },
  );
  await api.startBackgroundCommand(['x']);
  assert.deepEqual(fake.of('answer'), [[7, { value: true }]]);
  fake.settle('task-1');
});

test('an abort while the hook thinks ends the start, and a late word changes nothing', async () => {
  const controller = new AbortController();
  let decide;
  const { fake, api } = await over(
    { ...base, approve: () => new Promise(resolve => (decide = resolve)) },
    {
      start: () => asking('approve'),
      answer: () => ({ wire: wire('ERR_ABORTED') }),
    },
  );
  const start = api.startBackgroundCommand(['x'], { abortSignal: controller.signal });
  while (decide === undefined) await new Promise(setImmediate);
  controller.abort();
  await assert.rejects(start, { code: 'ERR_ABORTED' });
  decide(true);
  await new Promise(setImmediate);
  assert.deepEqual(fake.of('answer'), [[7, { aborted: true }]]);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('a start is judged by the hooks of the policy in force when it was called', async () => {
  const asked = [];
  const first = { ...base, allowlist: () => asked.push('first') > 0 };
  const { fake, api } = await over(first, { start: () => asking('allowlist'), answer: () => handle });
  const start = api.startBackgroundCommand(['x']);
  first.allowlist = () => asked.push('swapped');
  await api.setBackgroundCommandPolicy({ ...base, allowlist: () => asked.push('second') > 0 });
  await start;
  assert.deepEqual(asked, ['first']);
  fake.settle('task-1');
});

test('a refused policy leaves the hooks before it in force', async () => {
  const asked = [];
  const { fake, api } = await over(
    { ...base, allowlist: () => asked.push('first') > 0 },
    {
      setPolicy: policy => (policy.cwdRoot === 5 ? { error: wire('ERR_BAD_POLICY') } : undefined),
      policy: () => ({ ok: { cwdRoot: '/' } }),
      start: () => asking('allowlist'),
      answer: () => handle,
    },
  );
  const bad = { ...base, cwdRoot: 5, allowlist: () => asked.push('bad') };
  await assert.rejects(api.setBackgroundCommandPolicy(bad), { code: 'ERR_BAD_POLICY' });
  await api.startBackgroundCommand(['x']);
  assert.deepEqual(asked, ['first']);
  assert.deepEqual(Object.keys(api.getBackgroundCommandPolicy()), ['cwdRoot', 'allowlist']);
  fake.settle('task-1');
});

test('disposal answers for a hook that has not, and asks no other', async () => {
  const asked = [];
  const behaviour = { start: () => asking('approve'), answer: () => ({ wire: wire('ERR_DISPOSED') }) };
  const never = { ...base, approve: () => new Promise(() => asked.push('approve')) };
  const { fake, api } = await over(never, behaviour);
  const waiting = assert.rejects(api.startBackgroundCommand(['x']), { code: 'ERR_DISPOSED' });
  while (asked.length === 0) await new Promise(setImmediate);
  const late = assert.rejects(api.startBackgroundCommand(['y']), { code: 'ERR_DISPOSED' });
  await api.dispose();
  await Promise.all([waiting, late]);
  assert.equal(asked.length, 1);
  assert.deepEqual(fake.of('answer'), [
    [7, { aborted: true }],
    [7, { aborted: true }],
  ]);
});
