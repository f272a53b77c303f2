'use strict';

const { orThrow, standardSchema, toolsOf } = require('./shared.js');

/**
 * Mastra. A refusal is thrown, which makes it a `tool-error` chunk and an error result for the model.
 * @param {Pick<typeof import('@mastra/core/tools'), 'createTool'>} sdk
 */
module.exports = ({ createTool }) => ({
  argvaultTools(host, options) {
    const entries = toolsOf(host, options).map(({ name, description, inputSchema, annotations, call }) => {
      const execute = (params, { agent, abortSignal }) =>
        orThrow(call(params, { sessionId: agent?.threadId, abortSignal }));
      const mcp = { annotations };
      return [
        name,
        createTool({ id: name, description, inputSchema: standardSchema(inputSchema), mcp, execute }),
      ];
    });
    return Object.fromEntries(entries);
  },
});
