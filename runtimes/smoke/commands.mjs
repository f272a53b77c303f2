import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { written } from '../lib/cases.mjs';

const collect = async iterable => {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
};

export const commands = {
  'a command runs from start to artifact': async ({ host, root }) => {
    const before = Date.now();
    const handle = await host.startBackgroundCommand(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    assert.deepEqual(handle.argv, ['sh', '-c', 'echo out; echo err >&2; exit 3']);
    assert.ok(handle.startedAt >= before - 1_000 && handle.startedAt <= Date.now() + 1_000);
    const status = await host.awaitBackgroundCommand(handle.taskId);
    assert.deepEqual([status.state, status.cause, status.exitCode], ['exited', 'exit', 3]);
    assert.deepEqual([status.cwd, status.stdoutBytes, status.stderrBytes], [root, 4, 4]);
    assert.deepEqual(host.getBackgroundCommandStatus(handle.taskId), status);
    assert.equal(await host.readArtifact(status.stdout.artifactId), 'out\n');
    assert.equal(await host.readArtifact(status.stderr.artifactId), 'err\n');
    assert.equal(await host.readArtifact('nothing-here'), null);
    assert.equal(await host.readArtifact(5), null);
  },

  'bytes stay bytes, as Buffers': async ({ host }) => {
    const status = await host.runCommand(['sh', '-c', "printf '\\377\\000\\342'; printf '\\211\\244'"]);
    const bytes = await host.readArtifactBytes(status.stdout.artifactId);
    assert.ok(Buffer.isBuffer(bytes) && bytes instanceof Uint8Array);
    assert.deepEqual([...bytes], [0xff, 0, 0xe2, 0x89, 0xa4]);
    const range = await host.readArtifactBytes(status.stdout.artifactId, { offset: 1, length: 2 });
    assert.equal(range.toString('hex'), '00e2');
    assert.equal(await host.readArtifact(status.stdout.artifactId), '\ufffd\0≤');
    const followed = await collect(host.followOutput(status.taskId));
    assert.ok(followed.every(chunk => Buffer.isBuffer(chunk)));
    assert.deepEqual(Buffer.concat(followed), bytes);
  },

  'standard input takes a string and every view of bytes': async ({ host }) => {
    const inputs = ['héé', Buffer.from('héé'), new TextEncoder().encode('héé')];
    inputs.push(new Uint8Array(Buffer.from('--héé--')).subarray(2, 7));
    for (const input of inputs) {
      const { stdout } = await host.runCommand(['sh', '-c', 'cat'], { input });
      assert.equal(await host.readArtifact(stdout.artifactId), 'héé');
    }
  },

  'output is followed, paged and searched': async ({ host }) => {
    const { taskId } = await host.startBackgroundCommand([
      'sh',
      '-c',
      'for i in 1 2 3 4 5; do echo "line $i"; done; read x',
    ]);
    await written(host, taskId, 'line 5');
    await host.killBackgroundCommand(taskId);
    assert.deepEqual(
      await collect(host.followLines(taskId)),
      [1, 2, 3, 4, 5].map(i => `line ${i}`),
    );
    const page = await host.readBackgroundCommandOutput(taskId, { offset: 7, limit: 6 });
    assert.deepEqual([page.content, page.nextOffset, page.totalSize, page.hasMore], ['line 2', 13, 35, true]);
    const found = await host.searchOutput(taskId, { pattern: 'line [34]', before: 1 });
    assert.deepEqual(
      found.matches.map(({ line, text, before }) => [line, text, before]),
      [
        [3, 'line 3', ['line 2']],
        [4, 'line 4', ['line 3']],
      ],
    );
  },

  'the environment is the one of the start, or what the process has now': async ({ host }) => {
    const show = ['sh', '-c', 'echo "$ARGVAULT_SMOKE"'];
    const out = async options => host.readArtifact((await host.runCommand(show, options)).stdout.artifactId);
    process.env.ARGVAULT_SMOKE = 'inherited';
    try {
      assert.equal(await out(), 'inherited\n');
      assert.equal(await out({ env: process.env }), 'inherited\n');
      assert.equal(await out({ env: { ARGVAULT_SMOKE: 'given', LEFT_OUT: undefined } }), 'given\n');
      assert.equal(await out({ env: {} }), '\n');
    } finally {
      delete process.env.ARGVAULT_SMOKE;
    }
    assert.equal(await out(), '\n');
  },

  'commands are listed, counted, banked and cleaned up': async ({ host }) => {
    const { taskId } = await host.runCommand(['sh', '-c', 'exit 0'], { label: 'one', sessionId: 's' });
    const { commands: all } = await host.listCommands({ sessionId: 's' });
    assert.deepEqual(
      all.map(command => [command.taskId, command.label]),
      [[taskId, 'one']],
    );
    assert.equal(host.backgroundCommandCounts('s').running, 0);
    const kept = await host.bankArtifact(new Uint8Array([1, 2]), { kind: 'note', label: 'bytes' });
    assert.equal((await host.readArtifactBytes(kept.artifactId)).toString('hex'), '0102');
    assert.ok((await host.cleanup({ olderThanMs: 0 })).removed >= 1);
  },

  'a hundred at once all end': async ({ host }) => {
    const runs = Array.from({ length: 100 }, (_, i) => host.runCommand(['sh', '-c', `exit ${i}`]));
    assert.deepEqual(
      (await Promise.all(runs)).map(({ exitCode }) => exitCode),
      runs.map((_, i) => i),
    );
  },
};
