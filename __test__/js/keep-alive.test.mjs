import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScript } from '../helpers/child.mjs';

// The fake answers by timers that don't hold the loop, as the native port does: what ends too early prints nothing.
const script = body => `
  const { compose } = require('./js/compose.js');
  const { fakeBinding } = require('./__test__/helpers/fake-binding.js');
  const fake = fakeBinding({ wait: (...args) => {
    setTimeout(() => fake.reply(args.at(-1), { state: 'exited' }), 50).unref();
    return fake.later;
  } });
  const api = compose(fake.load);
  (async () => { ${body} })();
`;

async function prints(body, expected) {
  const { code, signal, stdout, stderr } = await runScript(script(body));
  assert.deepEqual({ code, signal, stdout, stderr }, { code: 0, signal: null, stdout: expected, stderr: '' });
}

test('an idle host does not hold the process', () =>
  prints(`new api.CommandHost(); await api.setBackgroundCommandPolicy({}); console.log('set');`, 'set\n'));

test('a pending call holds the process until it is answered', () =>
  prints(`await api.awaitBackgroundCommand('x'); console.log('answered');`, 'answered\n'));

test('a pending call holds the process also where running commands do not', () =>
  prints(
    `const host = new api.CommandHost({ keepAlive: false });
     await host.startBackgroundCommand(['x']); await host.awaitBackgroundCommand('x'); console.log('answered');`,
    'answered\n',
  ));

test('a running command holds the process until it has settled', () =>
  prints(
    `await api.startBackgroundCommand(['x']);
     setTimeout(() => { fake.settle('task-1'); console.log('settled'); }, 50).unref();`,
    'settled\n',
  ));

test('with keepAlive: false a running command does not hold the process', () =>
  prints(
    `const host = new api.CommandHost({ keepAlive: false });
     await host.startBackgroundCommand(['x']);
     setTimeout(() => console.log('never'), 10_000).unref(); console.log('started');`,
    'started\n',
  ));

test('a hook that waits for a human holds the process', () =>
  prints(
    `const asked = fakeBinding({
       start: () => ({ question: 'approve', ticket: 1, request: {}, timeoutMs: 60_000 }),
       answer: () => ({ taskId: 't', argv: [], startedAt: 1 }) });
     const { CommandHost } = compose(asked.load);
     const host = new CommandHost({ keepAlive: false });
     await host.setBackgroundCommandPolicy({ approve: () => new Promise(r => setTimeout(r, 50, true).unref()) });
     await host.startBackgroundCommand(['x']); console.log('approved');`,
    'approved\n',
  ));
