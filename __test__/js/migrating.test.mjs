// docs/migrating.md: each of its snippets is a program that compiles as strict TypeScript and runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../helpers/child.mjs';

const page = readFileSync(path.join(root, 'docs', 'migrating.md'), 'utf8');
const snippets = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);

/** A consumer's folder with the snippets and the runner that they fall back to. */
function project(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'argvault-migrating-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(root, path.join(folder, 'node_modules', 'argvault'));
  copyFileSync(path.join(root, '__test__/migrating/own-runner.ts'), path.join(folder, 'own-runner.ts'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    target: 'es2022',
    lib: ['es2022'],
    module: 'nodenext',
    outDir: 'out',
    rootDir: '.',
    typeRoots: [path.join(root, 'node_modules', '@types')],
    types: ['node'],
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  snippets.forEach((text, index) => {
    writeFileSync(path.join(folder, `snippet${index}.ts`), text);
  });
  return folder;
}

async function runNode(folder, ...args) {
  const env = { ...process.env, XDG_STATE_HOME: path.join(folder, 'state') };
  delete env.ARGVAULT_VAULT;
  const options = { cwd: folder, env, timeout: 100_000, killSignal: 'SIGKILL' };
  try {
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout}`);
  }
}

test('the snippets compile as strict TypeScript, and each runs', async t => {
  const said = [
    // The first only chooses; that its choice works is the next test's business.
    /^$/,
    /^0 v\d+\.\d+\.\d+\n\n$/,
    /^exited\nERR_VETOED Only `node --version` may run here\.\n$/,
    /^run_command_bg\(argv, cwd, timeoutMs\) false \d+ function\n(.*\n){5}exited 0 0\n$/,
  ];
  assert.equal(snippets.length, said.length);
  const folder = project(t);
  await runNode(folder, path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'));
  for (const [index, expected] of said.entries()) {
    assert.match(await runNode(folder, `out/snippet${index}.js`), expected, snippets[index]);
  }
  const use = `import { runner } from './out/snippet0.js';
    runner.setBackgroundCommandPolicy({ allowedExecutables: ['node'], cwdRoot: process.cwd() });
    const { taskId } = await runner.startBackgroundCommand(['node', '-p', '6 * 7'], { cwd: process.cwd() });
    console.log((await runner.awaitBackgroundCommand(taskId)).tailPreview);`;
  writeFileSync(path.join(folder, 'use.js'), use);
  assert.equal(await runNode(folder, 'use.js'), '[stdout tail]\n42\n\n');
});

test('where argvault cannot work, the one line takes the own runner', async t => {
  const folder = project(t);
  const [choice] = snippets;
  const plain = choice.replace(', type Runner', '').replace(': Runner', '');
  writeFileSync(path.join(folder, 'own-runner.js'), 'export const ownRunner = { own: true };');
  writeFileSync(path.join(folder, 'choice.js'), plain);
  const other = "Object.defineProperty(process, 'platform', { value: 'darwin' });";
  writeFileSync(
    path.join(folder, 'use.js'),
    `${other}\nconsole.log((await import('./choice.js')).runner.own);`,
  );
  assert.equal(await runNode(folder, 'use.js'), 'true\n');
});

test('the page names each cause of the declarations, and each field of a settled status', () => {
  const types = readFileSync(path.join(root, 'index.d.ts'), 'utf8');
  const causes = [...types.matchAll(/^ {2}cause: (.*);$/gm)].flatMap(([, union]) => union.match(/[a-z-]+/g));
  const fieldsOf = name =>
    [...types.matchAll(new RegExp(`^interface ${name} .*?\\{\\n(.*?)^\\}`, 'gms'))]
      .flatMap(([, body]) => [...body.matchAll(/^ {2}(\w+)\??:/gm)])
      .map(([, field]) => field);
  const fields = [...fieldsOf('StatusBase'), ...fieldsOf('SettledBase')];
  assert.ok(causes.length > 10 && fields.length > 20);
  for (const name of [...causes, ...fields]) assert.match(page, new RegExp(`\\b${name}\\b`), name);
});
