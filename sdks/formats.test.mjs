import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { openPlace } from './place.mjs';

const require = createRequire(import.meta.url);
const adapters = ['ai', 'claude-agent-sdk', 'langchain', 'mastra', 'openai-agents'];

test('each adapter has the same exports by import and by require', async () => {
  for (const name of adapters) {
    const names = Object.keys(await import(`argvault/${name}`));
    const required = require(`argvault/${name}`);
    assert.deepEqual(
      Object.keys(required),
      names.filter(each => each !== 'default' && each !== 'module.exports'),
    );
    for (const each of Object.keys(required)) assert.equal(typeof required[each], 'function');
  }
});

// A package that ships both formats has two of each class and of each registry.
test("an adapter makes tools with the copy of the SDK that its importer's format loads", async t => {
  const { host } = await openPlace(t);
  const imported = await import('argvault/langchain');
  for (const tool of imported.argvaultTools(host)) assert.ok(tool instanceof DynamicStructuredTool);
  const theirs = require('@langchain/core/tools');
  assert.notEqual(theirs.DynamicStructuredTool, DynamicStructuredTool);
  for (const tool of require('argvault/langchain').argvaultTools(host)) {
    assert.ok(tool instanceof theirs.DynamicStructuredTool);
  }
});

test('an MCP server that has tools of its own already is not taken over', async () => {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { serveTools } = await import('argvault/mcp');
  const server = new McpServer({ name: 'a', version: '1.0.0' });
  serveTools(server);
  assert.throws(() => serveTools(server), /already exists/);
});

test('where no tool call of LangChain asks, a refusal is thrown, and a result is the value', async t => {
  const { host } = await openPlace(t);
  const { argvaultTools } = await import('argvault/langchain');
  const tool = name => argvaultTools(host).find(each => each.name === name);
  await assert.rejects(tool('run_command_bg').invoke({ argv: ['rm'] }), {
    code: 'ERR_EXECUTABLE_NOT_ALLOWED',
  });
  assert.equal((await tool('git_log').invoke({ maxCount: 1 })).ok, true);
});

test("MCP and Claude Agent SDK clients see the tools' annotations", async t => {
  const place = await openPlace(t);
  for (const name of ['mcp-1', 'mcp-2', 'claude-agent-sdk']) {
    const driver = await import(`./drivers/${name}.mjs`);
    const { described, close } = await driver.open(place);
    t.after(close);
    const seen = (await described()).map(({ name, annotations }) => [name, annotations]);
    assert.deepEqual(
      seen,
      place.host.tools().map(({ name, annotations }) => [name, annotations]),
    );
  }
});
