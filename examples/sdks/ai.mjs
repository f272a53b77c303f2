// Vercel AI SDK. With a real model, only `model` changes.
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { registerBackgroundCommandTools } from 'argvault';
import { argvaultTools } from 'argvault/ai';
import { nextTurn, policy } from './script.mjs';

const model = new MockLanguageModelV4({
  async doGenerate({ prompt }) {
    const results = prompt
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => content[0].output.value);
    const { text, toolName, params } = nextTurn(results);
    const call = {
      type: 'tool-call',
      toolCallId: `call-${results.length}`,
      toolName,
      input: JSON.stringify(params),
    };
    return {
      content: [text === undefined ? call : { type: 'text', text }],
      finishReason: { unified: text === undefined ? 'tool-calls' : 'stop' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
});

await registerBackgroundCommandTools(policy);
const { text } = await generateText({
  model,
  tools: argvaultTools(),
  stopWhen: isStepCount(5),
  prompt: 'What is six times seven?',
});
console.log(text);
