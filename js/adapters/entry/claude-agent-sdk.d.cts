// The types of the ES module, for CommonJS.
type Entry = typeof import('./claude-agent-sdk.mjs', { with: { 'resolution-mode': 'import' }});

export declare const argvaultServer: Entry['argvaultServer'];
