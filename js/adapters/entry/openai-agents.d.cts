// The types of the ES module, for CommonJS.
type Entry = typeof import('./openai-agents.mjs', { with: { 'resolution-mode': 'import' }});

export declare const argvaultTools: Entry['argvaultTools'];
