// Compiled, never run: the same from CommonJS.
import { CommandHost } from 'argvault';

import ai = require('argvault/ai');

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { Agent } from '@openai/agents';
import { argvaultServer } from 'argvault/claude-agent-sdk';
import { argvaultTools as langchainTools } from 'argvault/langchain';
import { argvaultTools as mastraTools } from 'argvault/mastra';
import { serveTools } from 'argvault/mcp';
import { argvaultTools as openaiTools } from 'argvault/openai-agents';

const host = new CommandHost();
export const names: string[] = [
  ...Object.keys(ai.argvaultTools(host)),
  ...Object.keys(mastraTools(host)),
  ...langchainTools(host).map(({ name }) => name),
  argvaultServer(host).name,
];
export const agent = new Agent({ name: 'a', tools: openaiTools(host, { killOnAbort: false }) });
serveTools(new Server({ name: 'a', version: '1' }), host);
