'use strict';

const { callerOf } = require('./shared.js');

/** The handlers of a low-level server, which takes JSON Schema as it is. The list is the host's at each question. */
function toolHandlers(host, options) {
  const { list, call } = callerOf(host, options);
  return {
    list: () => ({ tools: list() }),
    async call({ params }, extra) {
      // 2.x keeps what concerns the request in `mcpReq`.
      const context = { sessionId: extra.sessionId, abortSignal: (extra.mcpReq ?? extra).signal };
      const result = await call(params.name, params.arguments, context);
      return { content: [{ type: 'text', text: JSON.stringify(result) }], isError: result.isError === true };
    },
  };
}

/** 2.x takes the method, 1.x (which throws at a string) the schema of the request. */
function setHandler(server, method, schemaName, handler) {
  server.assertCanSetRequestHandler(method);
  try {
    server.setRequestHandler(method, handler);
  } catch {
    server.setRequestHandler(require('@modelcontextprotocol/sdk/types.js')[schemaName], handler);
  }
}

function serveTools(server, host, options) {
  const low = server.server ?? server;
  const { list, call } = toolHandlers(host, options);
  low.registerCapabilities({ tools: {} });
  setHandler(low, 'tools/list', 'ListToolsRequestSchema', list);
  setHandler(low, 'tools/call', 'CallToolRequestSchema', call);
}

module.exports = { serveTools, toolHandlers };
