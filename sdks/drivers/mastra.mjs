import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { argvaultTools } from 'argvault/mastra';

export const name = 'mastra';
export const hasSessions = true;

const finish = finishReason => ({ type: 'finish', finishReason, usage: { inputTokens: 1, outputTokens: 1 } });

const reply = (...parts) => ({
  stream: new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  }),
});

export function open({ source, options }) {
  const tools = argvaultTools(source, options);
  return {
    described: () =>
      Object.entries(tools).map(([name, { description, inputSchema }]) => ({
        name,
        description,
        inputSchema: inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }),
      })),
    async call(toolName, params, { signal, sessionId } = {}) {
      const input = JSON.stringify(params) ?? '';
      const toolCall = { type: 'tool-call', toolCallId: 'call-1', toolName, input };
      const replies = [reply(toolCall, finish('tool-calls')), reply(finish('stop'))];
      const model = new MastraLanguageModelV2Mock({ doStream: async () => replies.shift() });
      const agent = new Agent({ id: 'tester', name: 'tester', instructions: 'test', model, tools });
      const memory = sessionId && { thread: sessionId, resource: 'tester' };
      const run = await agent.stream('go', { maxSteps: 2, abortSignal: signal, memory });
      const seen = new Set();
      for await (const { type } of run.fullStream) seen.add(type);
      const { output } = model.doStreamCalls[1].prompt.at(-1).content[0];
      if (output.type === 'json') return { value: output.value };
      assert.ok(seen.has('tool-error'));
      return { error: output.value };
    },
  };
}
