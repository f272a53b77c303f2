import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScript } from '../helpers/child.mjs';
import { eventually, isAlive, openHost, processesWith, refused, written } from '../helpers/host.mjs';

const forever = ['sh', '-c', 'echo ready; exec sleep 600'];

async function started(host, argv, options, text = 'ready') {
  const { taskId } = await host.startBackgroundCommand(argv, options);
  await written(host, taskId, text);
  return taskId;
}
const pidIn = async (host, taskId) =>
  Number((await host.readBackgroundCommandOutput(taskId)).content.match(/pid (\d+)/)[1]);

test('a kill is SIGTERM first, and the program may tidy up', async t => {
  const { host } = await openHost(t);
  const taskId = await started(host, [
    'sh',
    '-c',
    "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.02; done",
  ]);
  const status = await host.killBackgroundCommand(taskId);
  assert.deepEqual([status.state, status.cause], ['killed', 'kill']);
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'ready\ntidy\n');
});

test('a program that ignores SIGTERM is killed after the grace', async t => {
  const { host } = await openHost(t, { policy: { killGraceMs: 200 } });
  const taskId = await started(host, ['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 0.02; done"]);
  const status = await host.killBackgroundCommand(taskId);
  assert.deepEqual([status.state, status.cause, status.signal], ['killed', 'kill', 'SIGKILL']);
});

test('a kill may name its signal, and an unknown name is refused', async t => {
  const { host } = await openHost(t);
  const taskId = await started(host, forever);
  await refused(host.killBackgroundCommand(taskId, 'SIGNOPE'), 'ERR_BAD_OPTION', 'SIGNOPE');
  const status = await host.killBackgroundCommand(taskId, 'SIGINT');
  assert.deepEqual([status.state, status.signal], ['killed', 'SIGINT']);
});

test('a settled command is left as it was by a kill', async t => {
  const { host } = await openHost(t);
  const status = await host.runCommand(['sh', '-c', 'exit 4']);
  assert.deepEqual(await host.killBackgroundCommand(status.taskId), status);
});

test('killAll ends all of this host and none of another', async t => {
  const [one, two] = [await openHost(t), await openHost(t)];
  const ids = await Promise.all(Array.from({ length: 5 }, () => started(one.host, forever)));
  const other = await started(two.host, forever);
  assert.equal(await one.host.killAll(), 5);
  for (const id of ids) assert.equal(one.host.getBackgroundCommandStatus(id).cause, 'kill-all');
  assert.equal(two.host.getBackgroundCommandStatus(other).state, 'running');
  assert.equal(await one.host.killAllBackgroundCommands(), 0);
});

test('dispose ends the commands, then starts are refused and what was kept can still be read', async t => {
  const { host } = await openHost(t);
  const taskId = await started(host, forever);
  await host.dispose();
  const status = host.getBackgroundCommandStatus(taskId);
  assert.equal(status.state, 'killed');
  assert.equal(await host.readArtifact(status.stdout.artifactId), 'ready\n');
  await refused(host.startBackgroundCommand(forever), 'ERR_DISPOSED');
  await host.dispose();
});

test('a start whose approver has not answered is refused at once by dispose', async t => {
  const asked = [];
  const approve = () => new Promise(() => asked.push(true));
  const { host } = await openHost(t, { policy: { allowedCommands: [], approve } });
  const start = refused(host.startBackgroundCommand(forever), 'ERR_DISPOSED');
  await eventually(() => asked.length, 'the question');
  const begun = performance.now();
  await host.dispose();
  await start;
  assert.ok(performance.now() - begun < 10_000);
  assert.deepEqual((await host.listCommands()).commands, []);
});

test('an abort before the start refuses it, and nothing ran', async t => {
  const { host } = await openHost(t);
  await refused(
    host.runCommand(['sh', '-c', 'touch ran'], { abortSignal: AbortSignal.abort() }),
    'ERR_ABORTED',
  );
  assert.deepEqual((await host.listCommands()).commands, []);
});

test('an abort during the start is a refusal or a kill, never anything else', async t => {
  const { host } = await openHost(t);
  for (let i = 0; i < 20; i += 1) {
    const controller = new AbortController();
    const outcome = host.runCommand(forever, { abortSignal: controller.signal }).then(
      status => status.cause,
      error => error.code,
    );
    for (let turn = 0; turn < i; turn += 1) await new Promise(setImmediate);
    controller.abort();
    assert.ok(['abort', 'ERR_ABORTED'].includes(await outcome));
  }
  assert.equal(host.backgroundCommandCounts().running, 0);
});

test('an abort while it runs kills it; a second one, and one after the end, change nothing', async t => {
  const { host } = await openHost(t);
  const controller = new AbortController();
  const taskId = await started(host, forever, { abortSignal: controller.signal });
  controller.abort();
  controller.abort();
  const status = await host.awaitBackgroundCommand(taskId);
  assert.deepEqual([status.state, status.cause], ['killed', 'abort']);
  controller.abort();
  assert.deepEqual(await host.awaitBackgroundCommand(taskId), status);
});

test('the abort of a wait leaves the command running', async t => {
  const { host } = await openHost(t);
  const taskId = await started(host, forever);
  const controller = new AbortController();
  const wait = host.awaitBackgroundCommand(taskId, { abortSignal: controller.signal });
  controller.abort();
  assert.equal((await wait).state, 'running');
  assert.equal(host.getBackgroundCommandStatus(taskId).state, 'running');
});

test('a daemon that left the session and holds stdout is ended with its command', async t => {
  const { host } = await openHost(t, { policy: { strayGraceMs: 100 } });
  const daemon = "setsid sh -c 'echo pid $$; exec sleep 600' & while ! [ -e go ]; do sleep 0.02; done";
  const taskId = await started(host, ['sh', '-c', daemon], undefined, 'pid');
  const pid = await pidIn(host, taskId);
  assert.ok(await isAlive(pid));
  await host.runCommand(['sh', '-c', 'touch go']);
  const status = await host.awaitBackgroundCommand(taskId);
  assert.equal(await isAlive(pid), false);
  assert.deepEqual(
    [status.cause, status.exitCode, status.strays, status.strayNames],
    ['exit', 0, 1, ['sleep']],
  );
});

test('the twin: without argvault the same daemon lives on', async t => {
  const { spawn } = await import('node:child_process');
  const script = "setsid sh -c 'echo pid $$; exec sleep 600' & exit 0";
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', chunk => {
    out += chunk;
  });
  const exited = new Promise(resolve => child.on('exit', resolve));
  const [, pid] = await eventually(() => out.match(/pid (\d+)/), 'the pid of the daemon');
  t.after(() => process.kill(Number(pid), 'SIGKILL'));
  await exited;
  assert.ok(await isAlive(Number(pid)));
});

// The host is a process of its own, so that it can end in each way that a host ends.
const host = (vaultDir, mark, then) => `
  const { CommandHost } = require('argvault');
  (async () => {
    const host = new CommandHost({ vaultDir: ${JSON.stringify(vaultDir)} });
    await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/', killGraceMs: 100 });
    const argv = ['sh', '-c', 'setsid sleep 600 & echo ready; sleep 600 # ${mark}'];
    const { taskId } = await host.startBackgroundCommand(argv);
    for await (const line of host.followLines(taskId)) break;
    console.log(taskId);
    ${then}
  })();`;

const ends = {
  'a SIGKILL': "process.kill(process.pid, 'SIGKILL');",
  'a SIGTERM': "process.kill(process.pid, 'SIGTERM');",
  'process.exit': 'process.exit(0);',
  'an uncaught error': "setImmediate(() => { throw new Error('uncaught'); });",
};
for (const [name, then] of Object.entries(ends)) {
  test(`a host that ends by ${name} leaves no process, and the record says so`, async t => {
    const place = await openHost(t);
    const mark = `argvault-mark-${process.pid}-${name.replaceAll(/\W/g, '-')}`;
    const { stdout } = await runScript(host(place.vaultDir, mark, then));
    const taskId = stdout.trim();
    assert.match(taskId, /^\w/);
    const status = await eventually(() => {
      const seen = place.host.getBackgroundCommandStatus(taskId);
      return seen.state === 'running' ? undefined : seen;
    }, 'the record of the end');
    assert.deepEqual([status.state, status.cause], ['killed', 'host-gone']);
    assert.deepEqual(await processesWith(mark), []);
  });
}

test('a script whose command has settled exits by itself', async t => {
  const { vaultDir } = await openHost(t);
  const source = `
    const { CommandHost } = require('argvault');
    (async () => {
      const host = new CommandHost({ vaultDir: ${JSON.stringify(vaultDir)}, onSettled: s => console.log(s.state) });
      await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/' });
      await host.startBackgroundCommand(['sh', '-c', 'sleep 0.2']);
    })();`;
  const { code, stdout, stderr } = await runScript(source);
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'exited\n', stderr: '' });
});
