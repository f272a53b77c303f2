// Compiled, never run: the lines of the README's table, which a test holds to these.
import { query } from '@anthropic-ai/claude-agent-sdk';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import type { StructuredToolInterface } from '@langchain/core/tools';
import type { Agent as MastraAgent } from '@mastra/core/agent';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type Agent as OpenAiAgent, run } from '@openai/agents';
import { generateText, isStepCount, type LanguageModel } from 'ai';
import { serveTools } from 'argvault/mcp';

declare const prompt: string;

export async function ai(model: LanguageModel) {
  const { argvaultTools } = await import('argvault/ai');
  const tools = argvaultTools();
  const { text } = await generateText({ model, tools, stopWhen: isStepCount(20), prompt });
  return text;
}

export async function openAi(Agent: typeof OpenAiAgent) {
  const { argvaultTools } = await import('argvault/openai-agents');
  const agent = new Agent({ name: 'reviewer', tools: argvaultTools() });
  const { finalOutput } = await run(agent, prompt);
  return finalOutput;
}

/** As the package `langchain` has it, of which the tests need no more. */
type CreateAgent = (params: { model: BaseChatModel; tools: StructuredToolInterface[] }) => {
  invoke(
    state: { messages: string },
    config: { configurable: { thread_id: string } },
  ): Promise<{ messages: BaseMessage[] }>;
};

export async function langchain(createAgent: CreateAgent, model: BaseChatModel, thread_id: string) {
  const { argvaultTools } = await import('argvault/langchain');
  const agent = createAgent({ model, tools: argvaultTools() });
  const { messages } = await agent.invoke({ messages: prompt }, { configurable: { thread_id } });
  return messages;
}

export async function claude() {
  const { argvaultServer } = await import('argvault/claude-agent-sdk');
  const mcpServers = { argvault: argvaultServer() };
  for await (const message of query({ prompt, options: { mcpServers } })) console.log(message);
}

export async function mastra(Agent: typeof MastraAgent, model: string, instructions: string) {
  const { argvaultTools } = await import('argvault/mastra');
  const agent = new Agent({ id: 'reviewer', name: 'reviewer', instructions, model, tools: argvaultTools() });
  const { text } = await agent.generate(prompt);
  return text;
}

export async function mcp(server: McpServer) {
  serveTools(server);
  await server.connect(new StdioServerTransport());
}
