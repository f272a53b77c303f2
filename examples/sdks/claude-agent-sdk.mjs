// Claude Agent SDK. Its `query` starts a program that needs a key; here a client asks the same server directly.
//
//   query({ prompt, options: { mcpServers: { argvault: argvaultServer() }, allowedTools: ['mcp__argvault__*'] } })
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { registerBackgroundCommandTools } from 'argvault';
import { argvaultServer } from 'argvault/claude-agent-sdk';
import { nextTurn, policy } from './script.mjs';

await registerBackgroundCommandTools(policy);
const { instance } = argvaultServer();

const [ours, theirs] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: 'example', version: '1.0.0' });
await Promise.all([instance.connect(theirs), client.connect(ours)]);
const results = [];
let turn = nextTurn(results);
for (; turn.text === undefined; turn = nextTurn(results)) {
  const { content } = await client.callTool({ name: turn.toolName, arguments: turn.params });
  results.push(JSON.parse(content[0].text));
}
console.log(turn.text);
await client.close();
