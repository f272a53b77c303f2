import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { serveTools } from 'argvault/mcp';
import { connect } from './mcp.mjs';

export const name = 'mcp 2.x';
export const hasSessions = true;
export const signalEndsWithTheCall = true;

export function open({ source, options, sessionId }) {
  const client = new Client({ name: 'tester', version: '1.0.0' });
  const server = new McpServer({ name: 'argvault', version: '1.0.0' });
  serveTools(server, source, options);
  return connect({ client, server, InMemoryTransport, sessionId });
}
