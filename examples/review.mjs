// A reviewing agent without a model: what a model would do is a script here, and it has nothing but the tools. It starts a
// project's checks in the background, reads the last commit with git while they run, then cites their output, by line and
// artifact, for what it says. `node examples/review.mjs [PROJECT] [CHECK]…`, a check being an npm script of the project.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { CommandHost } from 'argvault';

const [project = process.cwd(), ...named] = process.argv.slice(2);
const root = path.resolve(project);
const manifest = path.join(root, 'package.json');
const { scripts = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
const checks = named.length > 0 ? named : ['lint', 'test'].filter(name => name in scripts);

/** What a line of a failed check looks like that deserves to be cited. */
const SUSPICIOUS = '^not ok|✖|(Error|error|FAIL|FAILED|Expected|expected)\\b';
const CITED_LINES = 3;

/** Calls a tool the way that a model's SDK does: a refusal is an answer too. */
async function call(host, name, params) {
  const answer = await host.executeTool(name, params, { sessionId: 'review' });
  if (answer.isError) throw new Error(`${name}: ${answer.error}`);
  return answer;
}

/** Asks until it is over: no call waits longer than the tool allows. */
async function settled(host, taskId) {
  for (;;) {
    const status = await call(host, 'command_status', { taskId, waitMs: 30_000 });
    if (status.state !== 'running' && status.state !== 'queued') return status;
  }
}

/** Reads the last commit: who, what, and which files it touched. */
async function readChange(host) {
  const { preview: subject } = await call(host, 'git_log', { maxCount: 1 });
  const { preview: files } = await call(host, 'git_show', { ref: 'HEAD', nameOnly: true });
  const { preview: diff } = await call(host, 'git_show', { ref: 'HEAD' });
  const changed = sign => diff.split('\n').filter(line => line.startsWith(sign) && line[1] !== sign).length;
  return { subject, files, added: changed('+'), removed: changed('-') };
}

/** The lines of a stream that say what went wrong, with their numbers, and where to read on. */
async function evidence(host, { taskId, stdout, stderr }) {
  const cited = [];
  for (const [stream, { artifactId, sizeBytes }] of Object.entries({ stdout, stderr })) {
    if (sizeBytes === 0) continue;
    const search = { taskId, stream, pattern: SUSPICIOUS, maxMatches: CITED_LINES };
    const { matches, truncated } = await call(host, 'command_search', search);
    for (const { line, offset, text } of matches) {
      // The citation is checked against the artifact that it names.
      const { content } = await call(host, 'retrieve_context', {
        artifactId,
        offset,
        limit: text.length || 1,
      });
      cited.push({ artifactId, line, text: content });
    }
    if (truncated) cited.push({ artifactId, line: undefined, text: 'and more' });
  }
  return cited;
}

const outcome = ({ state, exitCode, signal, durationMs }) =>
  `${state}, ${exitCode === undefined ? (signal ?? 'no exit code') : `exit code ${exitCode}`}, ${durationMs} ms`;

function printReview(change, results) {
  const bad = results.filter(({ status }) => status.exitCode !== 0);
  console.log(`# Review of ${path.basename(root)}\n`);
  console.log(
    `${change.subject.trim()}\n\n${change.files.trim()}\n\n+${change.added} -${change.removed} lines\n`,
  );
  for (const { name, status, cited } of results) {
    console.log(`## ${name}: ${outcome(status)}`);
    for (const { artifactId, line, text } of cited) {
      console.log(`- ${artifactId}${line === undefined ? '' : `:${line}`} ${text.trim()}`);
    }
    console.log();
  }
  const failed = bad.map(({ name }) => name).join(', ');
  console.log(bad.length === 0 ? 'Verdict: approve.' : `Verdict: request changes; ${failed} failed.`);
  return bad.length === 0 ? 0 : 1;
}

const vaultDir = mkdtempSync(path.join(tmpdir(), 'argvault-review-'));
const host = new CommandHost({ vaultDir, isolateSessions: true });
try {
  await host.registerBackgroundCommandTools({
    allowedExecutables: ['npm'],
    cwdRoot: root,
    allowedCommands: [['npm', 'run', { oneOf: checks.length > 0 ? checks : ['test'] }]],
    defaultTimeoutMs: 600_000,
  });
  await host.registerGitTools({ repoRoot: root });
  const started = await Promise.all(
    checks.map(async name => {
      const { taskId } = await call(host, 'run_command_bg', { argv: ['npm', 'run', name] });
      return { name, taskId };
    }),
  );
  const change = await readChange(host);
  const { running } = host.backgroundCommandCounts('review');
  console.log(`(the commit was read while ${running} of ${checks.length} checks were still running)\n`);
  const results = [];
  for (const { name, taskId } of started) {
    const status = await settled(host, taskId);
    results.push({ name, status, cited: status.exitCode === 0 ? [] : await evidence(host, status) });
  }
  process.exitCode = printReview(change, results);
} finally {
  await host.dispose();
  rmSync(vaultDir, { recursive: true, force: true });
}
