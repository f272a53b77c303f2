'use strict';

const { orThrow, toolsOf } = require('./shared.js');

/**
 * Vercel AI SDK. A refusal is thrown, which makes it a `tool-error` part and an error result for the model.
 * @param {Pick<typeof import('ai'), 'dynamicTool' | 'jsonSchema'>} sdk
 */
module.exports = ({ dynamicTool, jsonSchema }) => ({
  argvaultTools(host, options) {
    const entries = toolsOf(host, options).map(({ name, description, inputSchema, call }) => {
      const execute = (params, { abortSignal }) => orThrow(call(params, { abortSignal }));
      return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })];
    });
    return Object.fromEntries(entries);
  },
});
