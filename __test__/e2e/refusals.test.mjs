import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import * as argvault from 'argvault';
import { makePlace, openHost, refused } from '../helpers/host.mjs';

test('a shell command string is refused, and the reason says why', async t => {
  const { host } = await openHost(t);
  await refused(host.startBackgroundCommand('ls -la'), 'ERR_BAD_ARGV', 'argv', 'string');
  for (const name of ['ls -la', 'ls;rm', 'a|b', '$(x)', 'a`b`', 'a\nb', 'a>b', 'a\u00a0b']) {
    await refused(host.startBackgroundCommand([name]), 'ERR_NOT_AN_EXECUTABLE_NAME', 'NO shell');
  }
});

test('an executable outside the allowlist is refused by name', async t => {
  const { host } = await openHost(t);
  await refused(
    host.startBackgroundCommand(['rm', '-rf', '.']),
    'ERR_EXECUTABLE_NOT_ALLOWED',
    'Executable "rm" is not allowed',
  );
});

test('a basename does not stand in for an allowlisted absolute path', async t => {
  const { host } = await openHost(t, { policy: { allowedExecutables: ['/bin/true'] } });
  await refused(host.startBackgroundCommand(['true']), 'ERR_EXECUTABLE_NOT_ALLOWED', '"true"');
  assert.equal((await host.runCommand(['/bin/true'])).exitCode, 0);
});

test('a cwd outside the root is refused', async t => {
  const { host, dir } = await openHost(t);
  for (const cwd of ['..', dir, '/']) {
    await refused(
      host.startBackgroundCommand(['sh'], { cwd }),
      'ERR_CWD_OUTSIDE_ROOT',
      'outside the permitted root',
    );
  }
});

test('a symlink out of the root is refused — the check is realpath, not string', async t => {
  const { host, dir, root } = await openHost(t);
  await symlink(dir, path.join(root, 'out'));
  await refused(
    host.startBackgroundCommand(['sh'], { cwd: 'out' }),
    'ERR_CWD_OUTSIDE_ROOT',
    'outside the permitted root',
    dir,
  );
});

test("a sibling directory sharing the root's prefix is refused", async t => {
  const { host, root } = await openHost(t);
  await mkdir(`${root}-sibling`);
  await refused(
    host.startBackgroundCommand(['sh'], { cwd: `${root}-sibling` }),
    'ERR_CWD_OUTSIDE_ROOT',
    `${root}-sibling`,
  );
});

test('the policy hook has the final say, in its own words', async t => {
  const { host } = await openHost(t, {
    policy: { allowlist: argv => argv[1] !== '-c' || 'No scripts on a Friday.' },
  });
  const error = await host.startBackgroundCommand(['sh', '-c', 'true']).catch(reason => reason);
  assert.equal(error.code, 'ERR_VETOED');
  assert.equal(error.message, 'No scripts on a Friday.');
});

test('only true allows: any other word of a hook refuses', async t => {
  for (const word of [false, undefined, null, 1, 'yes', {}, [true], new Boolean(true)]) {
    const { host } = await openHost(t, { policy: { allowlist: async () => word } });
    await assert.rejects(host.startBackgroundCommand(['sh', '-c', 'true']), { code: 'ERR_VETOED' });
  }
  const thrown = () => {
    throw new Error('hook is broken');
  };
  const { host } = await openHost(t, { policy: { allowlist: thrown } });
  await refused(host.startBackgroundCommand(['sh', '-c', 'true']), 'ERR_VETOED', 'hook is broken');
});

test('nothing starts without a policy', async t => {
  const { vaultDir } = await makePlace(t);
  const host = new argvault.CommandHost({ vaultDir });
  await refused(host.startBackgroundCommand(['sh']), 'ERR_NO_POLICY', 'setBackgroundCommandPolicy');
  assert.equal(host.getBackgroundCommandPolicy(), undefined);
});

test('a refused policy leaves the one before in force', async t => {
  const { host, root } = await openHost(t);
  const bad = [
    undefined,
    null,
    5,
    {},
    { allowedExecutables: ['sh'] },
    { allowedExecutables: 'sh', cwdRoot: root },
  ];
  for (const policy of bad) await refused(host.setBackgroundCommandPolicy(policy), 'ERR_BAD_POLICY');
  const typo = { allowedExecutables: ['sh'], cwdRoot: root, allowedCommand: [] };
  await refused(host.setBackgroundCommandPolicy(typo), 'ERR_BAD_POLICY', 'allowedCommands');
  assert.equal((await host.runCommand(['sh', '-c', 'true'])).exitCode, 0);
});

test('argv that no program can be given is refused', async t => {
  const { host } = await openHost(t);
  const bad = [
    undefined,
    null,
    5,
    {},
    [],
    [''],
    ['sh', 5],
    ['sh', undefined],
    ['sh', 'a\0b'],
    ['sh', '\ud800'],
  ];
  for (const argv of bad) await refused(host.startBackgroundCommand(argv), 'ERR_BAD_ARGV', 'argv');
  await refused(
    host.startBackgroundCommand(['sh', 'x'.repeat(128 * 1024)]),
    'ERR_ARGV_TOO_LONG',
    'limit',
    '1',
  );
  const long = Array.from({ length: 30 }, () => 'x'.repeat(100_000));
  await refused(host.startBackgroundCommand(['sh', ...long]), 'ERR_ARGV_TOO_LONG', 'limit');
});

test('a working directory that can not be one is refused by what is wrong with it', async t => {
  const { host, root } = await openHost(t);
  await writeFile(path.join(root, 'file'), '');
  const start = cwd => host.startBackgroundCommand(['sh', '-c', 'true'], { cwd });
  await refused(start('missing'), 'ERR_CWD_NOT_FOUND', 'missing', 'not an existing directory');
  await refused(start('file'), 'ERR_CWD_NOT_A_DIRECTORY', 'file', 'not an existing directory');
  await refused(start('a\0b'), 'ERR_BAD_OPTION', 'NUL');
  await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: path.join(root, 'gone') });
  await refused(start(), 'ERR_ROOT_NOT_FOUND', 'gone');
});

test('options and budgets of the wrong shape are refused by name', async t => {
  const { host } = await openHost(t, { policy: { maxTimeoutMs: 10_000, maxOutputBytes: 1_000 } });
  const start = options => host.startBackgroundCommand(['sh', '-c', 'true'], options);
  await refused(start({ timeoutms: 1 }), 'ERR_BAD_OPTION', 'timeoutMs');
  for (const timeoutMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', 2 ** 53]) {
    await refused(start({ timeoutMs }), 'ERR_BAD_OPTION', 'positive', 'integer', 'timeoutMs');
  }
  await refused(start({ timeoutMs: 10_001 }), 'ERR_BUDGET', 'timeoutMs');
  await refused(start({ maxOutputBytes: 1_001 }), 'ERR_BUDGET', 'maxOutputBytes');
  await refused(start({ abortSignal: {} }), 'ERR_BAD_OPTION', 'abortSignal');
  for (const env of [{ B: null }, { C: 5 }, { '': 'v' }, { 'X=Y': 'z' }, { N: 'a\0b' }]) {
    await refused(start({ env }), 'ERR_BAD_ENV', 'env', Object.keys(env)[0]);
  }
});

test('an unmatched command is refused with the nearest pattern, or by the approver', async t => {
  const allowedCommands = [{ name: 'say', argv: ['sh', '-c', { oneOf: ['echo a', 'echo b'] }] }];
  const { host, root } = await openHost(t, { policy: { allowedCommands } });
  assert.equal((await host.runCommand(['sh', '-c', 'echo b'])).exitCode, 0);
  await refused(host.startBackgroundCommand(['sh', '-c', 'echo c']), 'ERR_COMMAND_NOT_ALLOWED', 'say');
  const seen = [];
  const approve = request => seen.push(request) === 1;
  await host.setBackgroundCommandPolicy({
    allowedExecutables: ['sh'],
    cwdRoot: root,
    allowedCommands,
    approve,
  });
  assert.equal((await host.runCommand(['sh', '-c', 'echo c'], { env: { SECRET: 'x' } })).exitCode, 0);
  assert.deepEqual([seen[0].argv, seen[0].cwd, seen[0].envNames], [['sh', '-c', 'echo c'], root, ['SECRET']]);
  await refused(host.startBackgroundCommand(['sh', '-c', 'echo c']), 'ERR_APPROVAL_DENIED');
});

test('an unknown command is named', async t => {
  const { host } = await openHost(t);
  const words = 'No background command "x"';
  await refused(host.awaitBackgroundCommand('x'), 'ERR_UNKNOWN_TASK', words);
  await refused(host.killBackgroundCommand('x'), 'ERR_UNKNOWN_TASK', words);
  await refused(host.readBackgroundCommandOutput('x'), 'ERR_UNKNOWN_TASK', words);
  await refused(host.followLines('x').next(), 'ERR_UNKNOWN_TASK', words);
  const status = async () => host.getBackgroundCommandStatus('x');
  await refused(status(), 'ERR_UNKNOWN_TASK', words);
  await refused(host.searchOutput('x', { pattern: 'x' }), 'ERR_UNKNOWN_TASK', words);
});

test('a vault that can not be written is refused by the name of its option', async t => {
  const { dir, root } = await makePlace(t);
  await writeFile(path.join(dir, 'file'), '');
  const attempt = async () => {
    const host = new argvault.CommandHost({ vaultDir: path.join(dir, 'file', 'vault') });
    await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: root });
    return host.startBackgroundCommand(['sh']);
  };
  await refused(attempt(), 'ERR_VAULT_UNAVAILABLE', 'vaultDir');
});

test('unknown host options are refused with the nearest name', () => {
  assert.throws(
    () => new argvault.CommandHost({ vaultdir: '/tmp' }),
    error => {
      assert.equal(error.code, 'ERR_BAD_OPTION');
      assert.match(error.message, /vaultDir/);
      return argvault.isArgvaultError(error);
    },
  );
});
