'use strict';

const { orThrow, toolsOf } = require('./shared.js');

/**
 * OpenAI Agents SDK. Its strict mode wants every property required, which these schemas don't say; its own error
 * function would hide what a refusal says.
 * @param {Pick<typeof import('@openai/agents'), 'tool'>} sdk
 */
module.exports = ({ tool }) => ({
  argvaultTools: (host, options) =>
    toolsOf(host, options).map(({ name, description, inputSchema, call }) =>
      tool({
        name,
        description,
        parameters: inputSchema,
        strict: false,
        execute: (params, _runContext, details) => orThrow(call(params, { abortSignal: details?.signal })),
        errorFunction: (_runContext, error) => error.message,
      }),
    ),
});
