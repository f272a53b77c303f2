import assert from 'node:assert/strict';
import { ToolMessage } from '@langchain/core/messages';
import { argvaultTools } from 'argvault/langchain';

export const name = 'langchain';
export const hasSessions = true;
export const checksParams = true;

export function open({ source, options }) {
  const tools = argvaultTools(source, options);
  return {
    described: () =>
      tools.map(({ name, description, schema }) => ({ name, description, inputSchema: schema })),
    // What a ToolNode does with a call of the model's.
    async call(toolName, args, { signal, sessionId } = {}) {
      const tool = tools.find(each => each.name === toolName);
      const call = { type: 'tool_call', id: 'call-1', name: toolName, args };
      const configurable = sessionId && { thread_id: sessionId };
      let message;
      try {
        message = await tool.invoke(call, { signal, configurable });
      } catch (error) {
        return { error: error.message };
      }
      assert.ok(message instanceof ToolMessage);
      assert.equal(message.tool_call_id, 'call-1');
      const value = JSON.parse(message.content);
      assert.equal(message.status, value.isError ? 'error' : 'success');
      return value.isError ? { error: value.error } : { value };
    },
  };
}
