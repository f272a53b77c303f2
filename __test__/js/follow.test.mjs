import assert from 'node:assert/strict';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, wire } = fakes;
function over(chunks, behaviour) {
  const left = chunks.map(chunk => Buffer.from(chunk));
  const fake = fakeBinding({ follow: () => 4, followNext: () => left.shift() ?? null, ...behaviour });
  return { fake, api: compose.compose(fake.load) };
}
async function all(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

test('followOutput gives the chunks as Buffers, then ends and closes', async () => {
  const { fake, api } = over(['one', 'two']);
  const chunks = await all(api.followOutput('t', { from: 2 }));
  assert.deepEqual(chunks.map(String), ['one', 'two']);
  assert.deepEqual(fake.of('follow'), [['t', { from: 2 }]]);
  assert.deepEqual(fake.of('followClose'), [[4]]);
});

test('nothing is opened before the first step', () => {
  const { fake, api } = over(['one']);
  api.followOutput('t');
  api.followLines('t');
  assert.deepEqual(fake.calls, []);
});

test('breaking out closes', async () => {
  const { fake, api } = over(['one', 'two']);
  for await (const chunk of api.followOutput('t')) {
    assert.equal(String(chunk), 'one');
    break;
  }
  assert.equal(fake.of('followClose').length, 1);
});

test('leaving while the next chunk is awaited closes at once', async () => {
  const { fake, api } = over([], { followNext: (...args) => fake.owe(...args) });
  for (const iterator of [api.followOutput('t'), api.followLines('t')]) {
    fake.id = undefined;
    const next = iterator.next();
    while (fake.id === undefined) await new Promise(resolve => setTimeout(resolve, 1));
    const closed = fake.of('followClose').length;
    assert.deepEqual(await iterator.return('left'), { done: true, value: 'left' });
    assert.equal(fake.of('followClose').length, closed + 1);
    fake.reply(fake.id, null);
    assert.deepEqual(await next, { done: true, value: undefined });
  }
});

test('steps that are asked for at once are answered in order', async () => {
  const { api } = over(['one', 'two']);
  const iterator = api.followOutput('t');
  const results = await Promise.all([iterator.next(), iterator.next(), iterator.next()]);
  assert.deepEqual(
    results.map(({ value, done }) => (done ? 'end' : String(value))),
    ['one', 'two', 'end'],
  );
});

test('a failure is the rejection of the step, after which it is over', async () => {
  const { fake, api } = over([], { follow: () => ({ wire: wire('ERR_UNKNOWN_TASK') }) });
  const iterator = api.followLines('t');
  await assert.rejects(iterator.next(), { code: 'ERR_UNKNOWN_TASK' });
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  assert.equal(fake.of('followClose').length, 0);
});

test('lines are put together across chunks, split characters and split line breaks included', async () => {
  const text = 'one\r\ntwö ≤\n\n\uFEFFfour 😀\nlast';
  const bytes = Buffer.from(text);
  const expected = ['one', 'twö ≤', '', '\uFEFFfour 😀', 'last'];
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const { api } = over(chunks);
    assert.deepEqual(await all(api.followLines('t')), expected, `chunks of ${size}`);
  }
});

test('a last line break makes no empty line, and no output no line', async () => {
  assert.deepEqual(await all(over(['a\n']).api.followLines('t')), ['a']);
  assert.deepEqual(await all(over([]).api.followLines('t')), []);
});

test('bytes that are no text become replacement characters, as Buffer.toString has them', async () => {
  const bytes = Buffer.from([0x61, 0xe2, 0x89, 0x0a, 0xff, 0x0a, 0xe2]);
  const { api } = over([bytes.subarray(0, 2), bytes.subarray(2)]);
  assert.deepEqual(await all(api.followLines('t')), bytes.toString('utf8').split('\n'));
});
