// The example of a reviewing agent, on a project with a check that passes and one that fails.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../helpers/child.mjs';
import { makePlace } from '../helpers/host.mjs';

/** The failing check ends only when `go` is there, which this test makes once git has been read. */
const scripts = { lint: 'echo clean', test: 'node check.mjs' };
const check = `
import { existsSync } from 'node:fs';
const end = Date.now() + 30_000;
while (!existsSync('go') && Date.now() < end) await new Promise(done => setTimeout(done, 20));
console.log('ok 1 - adds');
console.log('not ok 2 - subtracts');
console.error('AssertionError: Expected 1, got 3');
process.exit(1);
`;

function makeProject(dir) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir } });
  const write = (name, text) => writeFileSync(path.join(dir, name), text);
  write('package.json', JSON.stringify({ name: 'reviewed', scripts }));
  write('check.mjs', check);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Someone');
  git('config', 'user.email', 'someone@example.org');
  git('add', '.');
  git('commit', '-q', '-m', 'Add a check that fails');
}

async function review(t, dir, ...checks) {
  const child = spawn(process.execPath, [path.join(root, 'examples', 'review.mjs'), dir, ...checks], {
    env: { ...process.env, TMPDIR: path.dirname(dir) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const out = { stdout: '', stderr: '' };
  child.stderr.on('data', chunk => {
    out.stderr += chunk;
  });
  child.stdout.on('data', chunk => {
    out.stdout += chunk;
    // It says so once it has read git.
    if (out.stdout.includes('still running)')) writeFileSync(path.join(dir, 'go'), '');
  });
  const [code] = await once(child, 'close');
  return { code, ...out };
}

test('the reviewer reads git while the checks run, and cites the lines of the one that failed', async t => {
  const { root: dir } = await makePlace(t);
  makeProject(dir);
  const { code, stdout, stderr } = await review(t, dir);
  assert.equal(code, 1, stderr);
  assert.match(stdout, /while [12] of 2 checks were still running/);
  assert.match(stdout, /Add a check that fails/);
  assert.match(stdout, /^\tcheck\.mjs$/m);
  assert.match(stdout, /^## lint: exited, exit code 0, \d+ ms$/m);
  assert.match(stdout, /^## test: exited, exit code 1, \d+ ms$/m);
  assert.match(stdout, /^- \w+-stdout:\d+ not ok 2 - subtracts$/m);
  assert.match(stdout, /^- \w+-stderr:\d+ AssertionError: Expected 1, got 3$/m);
  assert.match(stdout, /^Verdict: request changes; test failed\.$/m);
  assert.deepEqual(
    readdirSync(path.dirname(dir)).filter(name => name.startsWith('argvault-review-')),
    [],
  );
});

test('the reviewer approves when every check passes', async t => {
  const { root: dir } = await makePlace(t);
  makeProject(dir);
  const { code, stdout, stderr } = await review(t, dir, 'lint');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Verdict: approve\.$/m);
});
