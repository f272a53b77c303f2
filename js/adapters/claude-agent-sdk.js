'use strict';

const { version } = require('../../package.json');
const { serveTools } = require('./mcp.js');

/**
 * Claude Agent SDK. Its `tool` takes a Zod shape, which drops unknown keys and refuses a null before any refusal could
 * teach; the low-level handlers of the server that it makes take the schemas as they are.
 * @param {Pick<typeof import('@anthropic-ai/claude-agent-sdk'), 'createSdkMcpServer'>} sdk
 */
module.exports = ({ createSdkMcpServer }) => ({
  argvaultServer(host, options) {
    const config = createSdkMcpServer({ name: 'argvault', version });
    serveTools(config.instance, host, options);
    return config;
  },
});
