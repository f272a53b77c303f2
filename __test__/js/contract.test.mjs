// What is said in more than one place says the same: exports and types, codes in Rust, in the types and the README.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import * as esm from 'argvault';
import ts from 'typescript';
import { root } from '../helpers/child.mjs';

const require = createRequire(import.meta.url);
const cjs = require('argvault');
const read = file => readFileSync(`${root}/${file}`, 'utf8');

const program = ts.createProgram([`${root}/index.d.ts`], { types: ['node'], target: ts.ScriptTarget.ES2022 });
const checker = program.getTypeChecker();
const source = program.getSourceFile(`${root}/index.d.ts`);
const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
const isValue = symbol => (symbol.flags & ts.SymbolFlags.Value) !== 0;
const named = name => exported.find(symbol => symbol.name === name);
const membersOf = name =>
  checker
    .getDeclaredTypeOfSymbol(named(name))
    .getProperties()
    .map(symbol => symbol.name)
    .filter(member => !member.startsWith('__@'))
    .sort();
const methodsOf = object => Object.getOwnPropertyNames(object).filter(name => name !== 'constructor');

test('the types name exactly what is exported', () => {
  assert.deepEqual(
    Object.keys(cjs).sort(),
    exported
      .filter(isValue)
      .map(({ name }) => name)
      .sort(),
  );
});

test('import and require give the same objects', () => {
  const imported = Object.entries(esm);
  assert.deepEqual(imported.map(([name]) => name).sort(), Object.keys(cjs).sort());
  for (const [name, value] of imported) assert.equal(value, cjs[name], name);
});

test('a host has the methods of CommandBackend, as has the module', () => {
  const backend = membersOf('CommandBackend');
  const prototype = cjs.CommandHost.prototype;
  const methods = [...methodsOf(prototype), ...methodsOf(Object.getPrototypeOf(prototype))];
  assert.deepEqual([...new Set(methods)].sort(), backend);
  assert.deepEqual(membersOf('CommandHost'), backend);
  assert.deepEqual(
    backend.filter(name => typeof cjs[name] !== 'function'),
    [],
  );
});

test('the types hold no any', () => {
  const anys = [];
  const visit = node => {
    if (node.kind === ts.SyntaxKind.AnyKeyword)
      anys.push(source.getLineAndCharacterOfPosition(node.pos).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  assert.deepEqual(anys, []);
});

test('the codes in Rust, in the types and in the README are the same, in the same order', () => {
  const inRust = [...read('src/error.rs').matchAll(/=> "(ERR_[A-Z_]+)"/g)].map(match => match[1]);
  const union = checker.getDeclaredTypeOfSymbol(named('ArgvaultErrorCode'));
  const inTypes = union.types.map(({ value }) => value);
  const inReadme = [...read('README.md').matchAll(/^\| `(ERR_[A-Z_]+)`/gm)].map(match => match[1]);
  assert.ok(inRust.length > 20);
  assert.deepEqual(inTypes.sort(), [...inRust].sort());
  assert.deepEqual(inReadme, inRust);
});

for (const folder of ['', 'bench/', 'packaging/', 'runtimes/', 'sdks/', 'sdks/neurolink/']) {
  test(`${folder}package-lock.json names no registry`, () => {
    assert.doesNotMatch(read(`${folder}package-lock.json`), /"resolved"/);
  });
}

// A panic can't be provoked from here; without this attribute one would end the process (`panic = "abort"` would too).
test('every native function turns a panic into an exception', () => {
  const files = readdirSync(`${root}/src/addon`).map(name => read(`src/addon/${name}`));
  const functions = files.flatMap(text => [
    ...text.matchAll(/#\[napi(\([^\]]*\))?\](?:\s*#\[[^\]]*\])*\s+pub (?:async )?fn (\w+)/g),
  ]);
  assert.ok(functions.length > 20);
  const open = functions.filter(([, attributes]) => !attributes?.includes('catch_unwind'));
  assert.deepEqual(
    open.map(match => match[2]),
    [],
  );
  const release = read('Cargo.toml').match(/\[profile\.release\]([^[]*)/)[1];
  assert.doesNotMatch(release, /panic/);
});
