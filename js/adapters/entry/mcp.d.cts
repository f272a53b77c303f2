// The types of the ES module, for CommonJS.
type Entry = typeof import('./mcp.mjs', { with: { 'resolution-mode': 'import' }});

export declare const serveTools: Entry['serveTools'];
export declare const toolHandlers: Entry['toolHandlers'];
