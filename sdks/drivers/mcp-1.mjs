import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { serveTools } from 'argvault/mcp';
import { connect } from './mcp.mjs';

export const name = 'mcp 1.x';
export const hasSessions = true;
export const signalEndsWithTheCall = true;

export function open({ source, options, sessionId }) {
  const client = new Client({ name: 'tester', version: '1.0.0' });
  const server = new Server({ name: 'argvault', version: '1.0.0' });
  serveTools(server, source, options);
  const callOptions = o => [undefined, o];
  return connect({ client, server, InMemoryTransport, sessionId, callOptions });
}
