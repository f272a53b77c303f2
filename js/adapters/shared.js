'use strict';

const argvault = require('../../index.js');

/**
 * How an adapter calls a tool of a host: by name, with `{ sessionId, abortSignal }` of the call. What an SDK doesn't
 * give is passed on as absent.
 * @param {Pick<import('../../index.js').CommandBackend, 'tools' | 'executeTool'>} [host]
 * @param {{ killOnAbort?: boolean }} [options]
 */
function callerOf(host = argvault, { killOnAbort } = {}) {
  const always = killOnAbort === undefined ? {} : { killOnAbort };
  return {
    list: () => host.tools().map(({ execute, ...tool }) => tool),
    call: (name, params, context) => host.executeTool(name, params, { ...context, ...always }),
  };
}

/** The tools that are registered now, each with a `call(params, context)` of its own. */
function toolsOf(host, options) {
  const { list, call } = callerOf(host, options);
  return list().map(tool => ({ ...tool, call: (params, context) => call(tool.name, params, context) }));
}

/** For SDKs that show a model as an error what a tool throws. */
async function orThrow(answer) {
  const result = await answer;
  if (result.isError) throw Object.assign(new Error(result.error), { code: result.code });
  return result;
}

/** A JSON Schema in the form of the Standard Schema interface. It takes every value: the tools validate by themselves. */
function standardSchema(jsonSchema) {
  const toJsonSchema = () => jsonSchema;
  return {
    '~standard': {
      version: 1,
      vendor: 'argvault',
      validate: value => ({ value }),
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  };
}

module.exports = { callerOf, orThrow, standardSchema, toolsOf };
