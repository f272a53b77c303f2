// OpenAI Agents SDK. With a real model, `model` is left out or a name.
import { Agent, run, setTracingDisabled } from '@openai/agents';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing';
import { registerBackgroundCommandTools } from 'argvault';
import { argvaultTools } from 'argvault/openai-agents';
import { nextTurn, policy } from './script.mjs';

setTracingDisabled(true);
const reply = modelResponder(({ request }) => {
  const answered = request.input.filter(({ type }) => type === 'function_call_result');
  const { text, toolName, params } = nextTurn(answered.map(({ output }) => JSON.parse(output.text)));
  const item =
    text === undefined ? functionCall(toolName, params, { callId: toolName }) : assistantMessage(text);
  return [item];
});

await registerBackgroundCommandTools(policy);
const agent = new Agent({
  name: 'calculator',
  model: new ScriptedModel([reply, reply, reply]),
  tools: argvaultTools(),
});
const { finalOutput } = await run(agent, 'What is six times seven?');
console.log(finalOutput);
