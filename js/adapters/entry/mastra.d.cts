// The types of the ES module, for CommonJS.
type Entry = typeof import('./mastra.mjs', { with: { 'resolution-mode': 'import' }});

export declare const argvaultTools: Entry['argvaultTools'];
