import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { argvaultServer } from 'argvault/claude-agent-sdk';
import { connect } from './mcp.mjs';

export const name = 'claude-agent-sdk';
export const signalEndsWithTheCall = true;

// The SDK's `query` needs its own program and a model; what it talks to is this very server.
export function open({ source, options }) {
  const client = new Client({ name: 'tester', version: '1.0.0' });
  const { instance: server } = argvaultServer(source, options);
  const callOptions = o => [undefined, o];
  return connect({ client, server, InMemoryTransport, callOptions });
}
