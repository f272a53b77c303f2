// LangChain. With a real model, only `fake` changes; `createAgent({ model, tools })` does what the loop does.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { registerBackgroundCommandTools } from 'argvault';
import { argvaultTools } from 'argvault/langchain';
import { nextTurn, policy } from './script.mjs';

function reply(messages) {
  const results = messages
    .filter(message => message instanceof ToolMessage)
    .map(({ content }) => JSON.parse(content));
  const { text, toolName, params } = nextTurn(results);
  if (text !== undefined) return new AIMessage(text);
  return new AIMessage({
    content: '',
    tool_calls: [{ id: `call-${results.length}`, name: toolName, args: params }],
  });
}

await registerBackgroundCommandTools(policy);
const tools = argvaultTools();
const fake = fakeModel().respond(reply).respond(reply).respond(reply);
const model = fake.bindTools(tools);
const messages = [new HumanMessage('What is six times seven?')];
for (;;) {
  const message = await model.invoke(messages);
  messages.push(message);
  if (message.tool_calls.length === 0) break;
  for (const call of message.tool_calls) {
    const tool = tools.find(({ name }) => name === call.name);
    messages.push(
      await tool.invoke({ ...call, type: 'tool_call' }, { configurable: { thread_id: 'thread-1' } }),
    );
  }
}
console.log(messages.at(-1).content);
