import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { runs } from '../examples.mjs';
import { openPlace } from '../place.mjs';
import { suite } from '../suite.mjs';
import { openEndpoint } from './endpoint.mjs';

if (process.env.ARGVAULT_TEST_NEUROLINK === '1') {
  const driver = await import('./driver.mjs');
  suite(driver);
  runs(path.join(import.meta.dirname, 'work', 'examples', 'neurolink.mjs'));

  const open = async (t, given) => {
    const place = await openPlace(t);
    return { ...place, ...(await driver.open({ ...place, ...given })) };
  };
  const params = { argv: ['sh', '-c', 'exit 0'] };

  for (const [what, mcp] of Object.entries({
    'its result cache': { cache: { enabled: true } },
    'its batcher': { batcher: { enabled: true } },
  })) {
    test(`neurolink: with ${what} on, equal calls are made each time`, async t => {
      const { call, source } = await open(t, { config: { mcp } });
      const { value: first } = await call('run_command_bg', params);
      const { value: second } = await call('run_command_bg', params);
      assert.notEqual(first.taskId, second.taskId);
      for (let i = 0; i < 2; i += 1) await call('command_status', { taskId: first.taskId });
      assert.equal(source.calls.length, 4);
    });
  }

  test('neurolink: the longest wait is answered, not cut off', async t => {
    const { call } = await open(t);
    const { value: started } = await call('run_command_bg', { argv: ['sh', '-c', 'sleep 60'] });
    const { value: status } = await call('command_status', { taskId: started.taskId, waitMs: 30_000 });
    assert.equal(status.state, 'running');
  });

  test('neurolink: a refusal that reads like a passing fault is not tried again', async t => {
    const { call, source } = await open(t);
    const { error } = await call('run_command_bg', { argv: ['network-timeout'] });
    assert.match(error, /network-timeout/);
    assert.equal(source.calls.length, 1);
  });

  test('neurolink: a call that failed after the tool had run is not made again', async t => {
    const middleware = async (_tool, _params, _context, next) => {
      await next();
      throw new Error('network timeout');
    };
    const { neurolink, source } = await open(t, { config: { mcp: { middleware: [middleware] } } });
    await assert.rejects(neurolink.executeTool('run_command_bg', params));
    assert.equal(source.calls.length, 1);
  });

  test('neurolink: attaching again changes the policy and registers nothing twice', async t => {
    const { neurolink, backend, host, policy, call, source } = await open(t);
    const { attach } = await import('argvault/neurolink');
    const before = neurolink.getCustomTools().size;
    assert.equal(await attach(neurolink, { ...policy, allowedExecutables: ['ls'] }, backend), backend);
    assert.equal(neurolink.getCustomTools().size, before);
    assert.deepEqual(host.getBackgroundCommandPolicy().allowedExecutables, ['ls']);
    assert.match((await call('run_command_bg', params)).error, /"sh" is not allowed/);
    assert.equal(source.calls.length, 1);
  });

  for (const [what, params, expected] of [
    ['a result', { argv: ['sh', '-c', 'exit 0'], cwd: null }, /"taskId"/],
    ['a refusal', { argv: ['rm'] }, /Executable \\"rm\\" is not allowed/],
  ]) {
    test(`neurolink: its own loop tells a model of the tools, and gives it ${what}`, async t => {
      const seen = await openEndpoint(t, 'run_command_bg', params);
      const { neurolink, host, source } = await open(t);
      const input = { text: 'go' };
      await neurolink.generate({ input, provider: 'openai-compatible', model: 'm', maxSteps: 2 });
      const told = new Map(seen[0].tools.map(tool => [tool.name, tool]));
      for (const { name, description } of host.tools())
        assert.equal(told.get(name)?.description, description);
      const { output } = seen.at(-1).input.find(({ type }) => type === 'function_call_output');
      assert.match(output, expected);
      assert.equal(source.calls.length, 1);
      assert.equal(source.calls[0].context.sessionId, undefined);
    });
  }

  test('neurolink: a refused policy registers no tool', async t => {
    const { NeuroLink } = await import('@juspay/neurolink');
    const { attach } = await import('argvault/neurolink');
    const { host } = await openPlace(t);
    const neurolink = new NeuroLink();
    const before = neurolink.getCustomTools().size;
    await assert.rejects(attach(neurolink, { cwdRoot: '/' }, host), { code: 'ERR_BAD_POLICY' });
    assert.equal(neurolink.getCustomTools().size, before);
  });
} else {
  const reason = 'its 900 MB are installed only for `npm run test:sdks -- --neurolink`';
  test(`neurolink: not run, ${reason}`, { skip: reason }, () => {});
}
