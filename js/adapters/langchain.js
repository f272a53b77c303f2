'use strict';

const { orThrow, toolsOf } = require('./shared.js');

const withoutNulls = params =>
  typeof params === 'object' && params !== null && !Array.isArray(params)
    ? Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))
    : params;

/**
 * LangChain. A refused tool call is answered with a tool message of status `error`; where no tool call asks, a refusal
 * is thrown.
 * @param {Pick<typeof import('@langchain/core/tools'), 'DynamicStructuredTool'> &
 *   Pick<typeof import('@langchain/core/messages'), 'ToolMessage'>} sdk
 */
module.exports = ({ DynamicStructuredTool, ToolMessage }) => {
  class ArgvaultTool extends DynamicStructuredTool {
    // LangChain holds the input to the schema first, where a null is a wrong type; here it counts as absent.
    call(params, ...rest) {
      return super.call(withoutNulls(params), ...rest);
    }
  }

  return {
    argvaultTools: (host, options) =>
      toolsOf(host, options).map(({ name, description, inputSchema, call }) => {
        const func = async (params, _runManager, config) => {
          const context = { sessionId: config?.configurable?.thread_id, abortSignal: config?.signal };
          const result = await call(params, context);
          const id = config?.toolCall?.id;
          if (!result.isError || id === undefined) return orThrow(result);
          return new ToolMessage({
            status: 'error',
            content: JSON.stringify(result),
            tool_call_id: id,
            name,
          });
        };
        return new ArgvaultTool({ name, description, schema: inputSchema, verboseParsingErrors: true, func });
      }),
  };
};
