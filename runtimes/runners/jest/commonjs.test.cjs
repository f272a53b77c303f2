const argvault = require('argvault');
const { cases, copies, withHost } = require('../cases.cjs');

require('@jest/globals').jest.resetModules();
const again = require('argvault');

test.each(Object.entries({ ...cases(argvault), ...copies(argvault, again) }))('%s', (_, run) => run());

test('matchers that look at types are content', () =>
  withHost(argvault, async host => {
    const handle = await host.startBackgroundCommand(['sh', '-c', 'exit 0']);
    expect(handle).toStrictEqual({ ...handle, argv: ['sh', '-c', 'exit 0'] });
    expect(await host.awaitBackgroundCommand(handle.taskId)).toStrictEqual(expect.any(Object));
    for (const { ArgvaultError } of [argvault, again]) {
      await expect(host.startBackgroundCommand(['rm'])).rejects.toThrow(ArgvaultError);
    }
  }));
