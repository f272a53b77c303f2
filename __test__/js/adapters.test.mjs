// What holds for the adapters where no SDK is installed; what they do with one is tested in `sdks/`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { root } from '../helpers/child.mjs';

const require = createRequire(import.meta.url);
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const adapters = Object.keys(manifest.exports).filter(entry => !['.', './package.json'].includes(entry));
const needing = {
  ai: 'ai',
  'claude-agent-sdk': '@anthropic-ai/claude-agent-sdk',
  langchain: '@langchain/core',
  mastra: '@mastra/core',
  'openai-agents': '@openai/agents',
};
const alone = { mcp: ['serveTools', 'toolHandlers'], neurolink: ['attach'] };

test('an adapter without its SDK says which is missing; importing the package needs none', async () => {
  assert.deepEqual(
    adapters.map(entry => entry.slice(2)).sort(),
    Object.keys({ ...needing, ...alone }).sort(),
  );
  await import('argvault');
  for (const [name, sdk] of Object.entries(needing)) {
    const missing = error => error.message.includes(sdk);
    await assert.rejects(import(`argvault/${name}`), missing);
    assert.throws(() => require(`argvault/${name}`), missing);
    assert.ok(manifest.peerDependenciesMeta[sdk].optional, sdk);
  }
});

test('an adapter that imports no SDK is the same by import and by require', async () => {
  for (const [name, names] of Object.entries(alone)) {
    const { default: _, ...imported } = await import(`argvault/${name}`);
    assert.deepEqual({ ...imported }, { ...require(`argvault/${name}`) });
    assert.deepEqual(Object.keys(imported).sort(), names);
  }
});

test('every peer is optional', () => {
  assert.deepEqual(Object.keys(manifest.peerDependencies), Object.keys(manifest.peerDependenciesMeta));
  for (const [name, { optional }] of Object.entries(manifest.peerDependenciesMeta))
    assert.equal(optional, true, name);
});
