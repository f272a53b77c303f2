import { Agent, Runner, setTracingDisabled } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { argvaultTools } from 'argvault/openai-agents';

export const name = 'openai-agents';

setTracingDisabled(true);

export function open({ source, options }) {
  const tools = argvaultTools(source, options);
  return {
    described: () =>
      tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters })),
    async call(toolName, params, { signal } = {}) {
      const args = JSON.stringify(params) ?? '';
      const call = functionCall(toolName, args, { callId: 'call-1' });
      const model = new ScriptedModel([[call], [assistantMessage('done')]]);
      const agent = new Agent({ name: 'tester', model, tools });
      await new Runner().run(agent, 'go', { signal });
      const { output } = model.lastCall.request.input.at(-1);
      const text = typeof output === 'string' ? output : output.text;
      return text.startsWith('{') ? { value: JSON.parse(text) } : { error: text };
    },
  };
}
