// The types of the ES module, for CommonJS.
type Entry = typeof import('./neurolink.mjs', { with: { 'resolution-mode': 'import' }});

export declare const attach: Entry['attach'];
