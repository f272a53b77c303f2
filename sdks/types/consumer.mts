// Compiled, never run: each adapter's result goes into the real SDK without a cast.
import { query } from '@anthropic-ai/claude-agent-sdk';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as McpServer2, Server as Server2 } from '@modelcontextprotocol/server';
import { Agent, tool as openaiTool } from '@openai/agents';
import { generateText, type LanguageModel, streamText, ToolLoopAgent, tool } from 'ai';
import * as argvault from 'argvault';
import { CommandHost, type ToolResult } from 'argvault';
import { argvaultTools as aiTools } from 'argvault/ai';
import { argvaultServer } from 'argvault/claude-agent-sdk';
import { argvaultTools as langchainTools } from 'argvault/langchain';
import { argvaultTools as mastraTools } from 'argvault/mastra';
import { serveTools, toolHandlers } from 'argvault/mcp';
import { argvaultTools as openaiTools } from 'argvault/openai-agents';
import { z } from 'zod';

declare const model: LanguageModel;
declare const chat: BaseChatModel;
const host = new CommandHost();
const own = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => city });

export const { text, toolResults } = await generateText({ model, tools: aiTools(), prompt: '' });
export const stream = streamText({
  model,
  tools: { ...aiTools(host, { killOnAbort: true }), own },
  prompt: '',
});
export const loop = new ToolLoopAgent({ model, tools: aiTools(argvault) });

export const agent = new Agent({ name: 'a', tools: openaiTools(host) });
const greet = openaiTool({ name: 'greet', description: '', parameters: z.object({}), execute: () => 'hi' });
export const typed = new Agent<{ user: string }>({
  name: 'a',
  tools: [...openaiTools<{ user: string }>(), greet],
});

export const bound = chat.bindTools?.(langchainTools(host));
const [first] = langchainTools(host);
export const answer: unknown = await first?.invoke({ argv: ['ls'] }, { configurable: { thread_id: '1' } });

export const mastra = new MastraAgent({
  id: 'a',
  name: 'a',
  instructions: '',
  model: 'openai/gpt-5',
  tools: mastraTools(host, {}),
});
const status = await mastraTools(host).command_status?.execute?.({}, { observe: undefined as never });
export const refused: boolean = (status as ToolResult).isError === true;

export const claude = query({ prompt: '', options: { mcpServers: { argvault: argvaultServer(host) } } });

serveTools(new Server({ name: 'a', version: '1' }), host);
serveTools(new McpServer({ name: 'a', version: '1' }));
serveTools(new Server2({ name: 'a', version: '1' }), host, { killOnAbort: true });
serveTools(new McpServer2({ name: 'a', version: '1' }));

const { list, call } = toolHandlers(host);
const low = new Server({ name: 'a', version: '1' }, { capabilities: { tools: {} } });
low.setRequestHandler(ListToolsRequestSchema, list);
low.setRequestHandler(CallToolRequestSchema, call);
const low2 = new Server2({ name: 'a', version: '1' }, { capabilities: { tools: {} } });
low2.setRequestHandler('tools/list', list);
low2.setRequestHandler('tools/call', call);

// @ts-expect-error An unknown option is no option.
aiTools(host, { killOnAborted: true });
// @ts-expect-error A host is asked for, not its tools.
openaiTools(host.tools());
