import assert from 'node:assert/strict';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { argvaultTools } from 'argvault/ai';

export const name = 'ai';

const usage = { inputTokens: {}, outputTokens: {} };
const toolCall = (toolName, params) => ({
  content: [{ type: 'tool-call', toolCallId: 'call-1', toolName, input: JSON.stringify(params) ?? '' }],
  finishReason: { unified: 'tool-calls' },
  usage,
  warnings: [],
});
const done = {
  content: [{ type: 'text', text: 'done' }],
  finishReason: { unified: 'stop' },
  usage,
  warnings: [],
};

export function open({ source, options }) {
  const tools = argvaultTools(source, options);
  return {
    described: () =>
      Object.entries(tools).map(([name, { description, inputSchema }]) => ({
        name,
        description,
        inputSchema: inputSchema.jsonSchema,
      })),
    async call(toolName, params, { signal } = {}) {
      const model = new MockLanguageModelV4({ doGenerate: [toolCall(toolName, params), done] });
      const stopWhen = isStepCount(2);
      const { steps } = await generateText({ model, tools, stopWhen, prompt: 'go', abortSignal: signal });
      const { output } = model.doGenerateCalls[1].prompt.at(-1).content[0];
      if (output.type === 'json') return { value: output.value };
      assert.equal(output.type, 'error-text');
      assert.ok(steps[0].content.some(part => part.type === 'tool-error'));
      return { error: output.value };
    },
  };
}
