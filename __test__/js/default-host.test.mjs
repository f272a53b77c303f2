import assert from 'node:assert/strict';
import { test } from 'node:test';
import compose from '../../js/compose.js';
import fakes from '../helpers/fake-binding.js';

const { fakeBinding, wire } = fakes;
const over = behaviour => {
  const fake = fakeBinding(behaviour);
  return { fake, api: compose.compose(fake.load) };
};
function withVariable(t, value) {
  const before = process.env.ARGVAULT_VAULT;
  const restore = v => {
    if (v === undefined) delete process.env.ARGVAULT_VAULT;
    else process.env.ARGVAULT_VAULT = v;
  };
  restore(value);
  t.after(() => restore(before));
}

test('the default host is made at its first use', async t => {
  withVariable(t, undefined);
  const { fake, api } = over({ killAll: () => 0 });
  api.isSupported();
  assert.equal(fake.of('create').length, 0);
  await api.killAll();
  await api.killAllBackgroundCommands();
  assert.deepEqual(
    fake.of('create').map(([options]) => options),
    [undefined],
  );
});

test('configureDefaultHost comes before ARGVAULT_VAULT, which fills in a vault left open', async t => {
  withVariable(t, '/from/variable');
  const optionsOf = async given => {
    const { fake, api } = over();
    if (given) await api.configureDefaultHost(given);
    await api.setBackgroundCommandPolicy({});
    return fake.of('create').at(-1)[0];
  };
  assert.deepEqual(await optionsOf(), { vaultDir: '/from/variable' });
  assert.deepEqual(await optionsOf({ vaultDir: '/given' }), { vaultDir: '/given' });
  assert.deepEqual(await optionsOf({ keepAlive: false }), { keepAlive: false, vaultDir: '/from/variable' });
});

test('the variable does not reach other hosts', t => {
  withVariable(t, '/from/variable');
  const { fake, api } = over();
  new api.CommandHost();
  assert.equal(fake.of('create')[0][0], undefined);
});

test('options that Rust refuses reject, and throw from the constructor', async () => {
  const { api } = over({
    create: options => (options?.typo ? { error: wire('ERR_BAD_OPTION') } : undefined),
  });
  await assert.rejects(api.configureDefaultHost({ typo: 1 }), { code: 'ERR_BAD_OPTION' });
  assert.throws(() => new api.CommandHost({ typo: 1 }), { code: 'ERR_BAD_OPTION' });
  await api.configureDefaultHost({});
});

test('configureDefaultHost is refused once the host is in use', async () => {
  const { api } = over();
  await api.configureDefaultHost({ keepAlive: true });
  await api.configureDefaultHost({ keepAlive: false });
  await api.setBackgroundCommandPolicy({});
  await assert.rejects(api.configureDefaultHost({}), {
    code: 'ERR_BAD_OPTION',
    message: /new CommandHost\(options\)\.$/,
  });
});

test('a policy that nobody awaits is in force for the next line', async () => {
  const { fake, api } = over();
  api.setBackgroundCommandPolicy({ mark: 1 });
  assert.deepEqual(
    fake.calls.map(call => call.method),
    ['create', 'setPolicy'],
  );
});

test('after dispose the next accepted policy makes the default host ready again', async t => {
  withVariable(t, undefined);
  const { fake, api } = over({
    setPolicy: policy => (policy.bad ? { error: wire('ERR_BAD_POLICY') } : undefined),
  });
  await api.configureDefaultHost({ keepAlive: false });
  await api.setBackgroundCommandPolicy({});
  const disposing = api.dispose();
  await assert.rejects(api.setBackgroundCommandPolicy({ bad: true }), { code: 'ERR_BAD_POLICY' });
  await api.startBackgroundCommand(['x']);
  assert.equal(fake.hosts.length, 2);
  await api.setBackgroundCommandPolicy({});
  await disposing;
  assert.deepEqual(fake.of('create').at(-1)[0], { keepAlive: false });
  await api.dispose();
  assert.equal(fake.of('dispose').length, 2);
});

test('Symbol.asyncDispose disposes of a host', async () => {
  const { fake, api } = over();
  const host = new api.CommandHost();
  await host[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]();
  assert.equal(fake.of('dispose').length, 1);
});
