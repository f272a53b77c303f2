// Model Context Protocol, 1.x. A server that a client starts connects a `StdioServerTransport` instead.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { registerBackgroundCommandTools } from 'argvault';
import { serveTools } from 'argvault/mcp';
import { nextTurn, policy } from './script.mjs';

await registerBackgroundCommandTools(policy);
const server = new Server({ name: 'commands', version: '1.0.0' });
serveTools(server);

const [ours, theirs] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: 'example', version: '1.0.0' });
await Promise.all([server.connect(theirs), client.connect(ours)]);
const results = [];
let turn = nextTurn(results);
for (; turn.text === undefined; turn = nextTurn(results)) {
  const { content } = await client.callTool({ name: turn.toolName, arguments: turn.params });
  results.push(JSON.parse(content[0].text));
}
console.log(turn.text);
await client.close();
