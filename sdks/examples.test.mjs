import { readdirSync } from 'node:fs';
import path from 'node:path';
import { runs } from './examples.mjs';

// A copy of `examples/sdks/`, where the SDKs are found.
const dir = path.join(import.meta.dirname, 'work', 'examples');
const others = ['neurolink.mjs', 'script.mjs'];
for (const name of readdirSync(dir)) if (!others.includes(name)) runs(path.join(dir, name));
