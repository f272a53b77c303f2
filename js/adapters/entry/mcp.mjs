import envelope from '../mcp.js';

export const { serveTools, toolHandlers } = envelope;
