// Where things are, for files that are run from anywhere.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const benchDir = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
export const root = path.join(benchDir, '..');
export const inBench = (...parts) => path.join(benchDir, ...parts);
export const inRoot = (...parts) => path.join(root, ...parts);
