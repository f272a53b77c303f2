import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { eventually } from '../../__test__/helpers/facts.mjs';

function makeRepository(dir) {
  const git = (...args) => {
    const identity = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.org'];
    execFileSync('git', [...identity, ...args], { cwd: dir, env: { PATH: process.env.PATH, HOME: dir } });
  };
  writeFileSync(path.join(dir, 'file.txt'), 'first\nsecond\n');
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'The only commit');
}

export const toolCases = {
  'a model starts, looks at and searches a command': async ({ host, policy }) => {
    const tools = await host.registerBackgroundCommandTools(policy);
    assert.ok(tools.length >= 6 && tools.every(tool => typeof tool.inputSchema === 'object'));
    const run = tools.find(({ name }) => name === 'run_command_bg');
    const { taskId } = await run.execute({ argv: ['sh', '-c', 'echo one; echo two'], timeoutMs: null });
    const status = await host.executeTool('command_status', { taskId, waitMs: 20_000 });
    assert.deepEqual([status.state, status.running], ['exited', 0]);
    const found = await host.executeTool('command_search', { taskId, pattern: 'two' });
    assert.equal(found.matches[0].line, 2);
    const { artifactId } = status.stdout;
    assert.equal((await host.executeTool('retrieve_context', { artifactId })).content, 'one\ntwo\n');
  },

  'a refusal of a tool is a value': async ({ host, policy }) => {
    await host.registerBackgroundCommandTools(policy);
    const calls = {
      ERR_EXECUTABLE_NOT_ALLOWED: ['run_command_bg', { argv: ['rm'] }],
      ERR_BAD_OPTION: ['command_status', { taskID: 'x' }],
      ERR_UNKNOWN_TOOL: ['command_statu', {}],
    };
    for (const [code, [name, params]] of Object.entries(calls)) {
      const { isError, code: got, error } = await host.executeTool(name, params);
      assert.deepEqual([isError, got], [true, code], error);
    }
  },

  'a model asks git': async ({ host, root }) => {
    makeRepository(root);
    await host.registerGitTools({ repoRoot: root });
    const log = await host.executeTool('git_log', {});
    assert.ok(log.ok && log.preview.includes('The only commit'), JSON.stringify(log));
    const blame = await host.executeTool('git_blame', { path: 'file.txt' });
    assert.ok(blame.ok && blame.preview.includes('second'), JSON.stringify(blame));
    const flag = await host.executeTool('git_show', { ref: '--output=x' });
    assert.deepEqual([flag.isError, flag.code], [true, 'ERR_GIT_BAD_VALUE'], flag.error);
    assert.equal((await host.runGitCommand(['rev-parse', '--is-inside-work-tree'])).ok, true);
  },

  'listeners and diagnostics channels hear of everything': async ({ argvault, policy, vaultDir }) => {
    const heard = { listener: [], channel: [] };
    const host = new argvault.CommandHost({
      vaultDir,
      onStarted: ({ argv }) => heard.listener.push(['start', argv[2]]),
      onSettled: ({ exitCode }) => heard.listener.push(['settled', exitCode]),
      onRefused: ({ error }) => heard.listener.push(['refused', error.code]),
    });
    await host.setBackgroundCommandPolicy(policy);
    const channels = {
      start: ({ argv }) => argv[2],
      settled: ({ exitCode }) => exitCode,
      refused: ({ error }) => error.code,
    };
    const subscriptions = Object.entries(channels).map(([name, of]) => {
      const hear = message => heard.channel.push([name, of(message)]);
      subscribe(`argvault:${name}`, hear);
      return () => unsubscribe(`argvault:${name}`, hear);
    });
    try {
      await host.runCommand(['sh', '-c', 'exit 4']);
      // Those who wait are told first, then the listeners.
      await eventually(() => heard.channel.length === 2, 'the end on the channel');
      await host.startBackgroundCommand(['rm']).catch(() => {});
    } finally {
      for (const end of subscriptions) end();
    }
    const expected = [
      ['start', 'exit 4'],
      ['settled', 4],
      ['refused', 'ERR_EXECUTABLE_NOT_ALLOWED'],
    ];
    assert.deepEqual(heard, { listener: expected, channel: expected });
    await host.dispose();
  },
};
