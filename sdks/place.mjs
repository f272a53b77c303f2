// A host with its tools registered on a repository of two commits, and what it was asked by an adapter.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandHost } from 'argvault';

export const CEILING_MS = 30_000;

const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
};

async function makeRepository(root) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, env: { PATH: process.env.PATH, ...identity } });
  git('init', '--quiet', '--initial-branch=main');
  for (const subject of ['first', 'second']) {
    await writeFile(path.join(root, 'file.txt'), `${subject}\n`);
    git('add', '.');
    git('commit', '--quiet', '-m', `${subject} commit`);
  }
}

/** Stands between an adapter and a host, and notes each call with its context and its answer. */
function watched(host) {
  const calls = [];
  return {
    calls,
    tools: () => host.tools(),
    async executeTool(name, params, context) {
      const call = { name, params, context };
      calls.push(call);
      call.result = await host.executeTool(name, params, context);
      return call.result;
    },
  };
}

export async function openPlace(t, options) {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'argvault-sdks-')));
  const host = new CommandHost({ vaultDir: path.join(dir, 'vault'), ...options });
  t.after(async () => {
    await host.dispose();
    await rm(dir, { recursive: true, force: true });
  });
  const root = path.join(dir, 'root');
  await mkdir(root);
  await makeRepository(root);
  const policy = { allowedExecutables: ['sh'], cwdRoot: root, killGraceMs: 1_000 };
  await host.registerBackgroundCommandTools(policy);
  await host.registerGitTools({ repoRoot: root });
  return { host, policy, source: watched(host) };
}

/** Asks again until `fact` answers something truthy. */
export async function eventually(fact, what) {
  const end = performance.now() + CEILING_MS;
  for (;;) {
    const answer = await fact();
    if (answer) return answer;
    if (performance.now() > end) assert.fail(`never came: ${what}`);
    await sleep(10);
  }
}

export const isRunning = (host, taskId) => host.getBackgroundCommandStatus(taskId).state === 'running';
