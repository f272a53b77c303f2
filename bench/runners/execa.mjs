// execa: waits for a command and keeps its output in memory, or sends it to a file.
import { statSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';

export async function open({ dir }) {
  return {
    name: 'execa',
    start([file, ...args]) {
      const child = execa(file, args, { stdin: 'ignore' });
      return { started: Promise.resolve(), settled: child };
    },
    async capture([file, ...args]) {
      const out = path.join(dir, 'stdout');
      // Without `buffer: false` it stops at 100 MB, which it keeps in memory.
      await execa(file, args, { stdin: 'ignore', stdout: ['pipe', { file: out }], buffer: false });
      return { bytes: statSync(out).size };
    },
    close: async () => {},
  };
}
