const { jest } = require('@jest/globals');
const argvault = require('argvault');
const { cases, copies } = require('../cases.cjs');

jest.resetModules();
const again = require('argvault');

test.each(Object.entries({ ...cases(argvault), ...copies(argvault, again) }))('%s', (_, run) => run());

test('matchers that look at types are content', async () => {
  const host = new argvault.CommandHost({ vaultDir: `${process.env.ARGVAULT_RUNNER_DIR}/matchers` });
  await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/' });
  const handle = await host.startBackgroundCommand(['sh', '-c', 'exit 0']);
  expect(handle).toStrictEqual({ ...handle });
  await expect(host.startBackgroundCommand(['rm'])).rejects.toThrow(argvault.ArgvaultError);
  await expect(host.startBackgroundCommand(['rm'])).rejects.toThrow(again.ArgvaultError);
  await host.dispose();
});
