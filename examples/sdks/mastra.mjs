// Mastra. With a real model, `model` is a name such as `openai/gpt-5`.
import { Agent } from '@mastra/core/agent';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { registerBackgroundCommandTools } from 'argvault';
import { argvaultTools } from 'argvault/mastra';
import { nextTurn, policy } from './script.mjs';

const usage = { inputTokens: 1, outputTokens: 1 };
const model = new MastraLanguageModelV2Mock({
  async doStream({ prompt }) {
    const results = prompt
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => content[0].output.value);
    const { text, toolName, params } = nextTurn(results);
    const id = `turn-${results.length}`;
    const said = [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: text },
      { type: 'text-end', id },
      { type: 'finish', finishReason: 'stop', usage },
    ];
    const called = [
      { type: 'tool-call', toolCallId: id, toolName, input: JSON.stringify(params) },
      { type: 'finish', finishReason: 'tool-calls', usage },
    ];
    return { stream: ReadableStream.from(text === undefined ? called : said) };
  },
});

await registerBackgroundCommandTools(policy);
const agent = new Agent({
  id: 'calculator',
  name: 'calculator',
  instructions: '',
  model,
  tools: argvaultTools(),
});
const answer = await agent.stream('What is six times seven?', { maxSteps: 5 });
console.log(await answer.text);
