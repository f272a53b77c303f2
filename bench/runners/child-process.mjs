// `node:child_process` alone: pipes that are read, nothing kept.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

const stdio = ['ignore', 'pipe', 'pipe'];

export async function open({ dir }) {
  return {
    name: 'child_process',
    start([file, ...args]) {
      const child = spawn(file, args, { stdio });
      child.stdout.resume();
      child.stderr.resume();
      return { started: once(child, 'spawn'), settled: once(child, 'close') };
    },
    /** Through the host into a file, since that is what all others do; `cmd > file` is the limit's part. */
    async capture([file, ...args]) {
      const child = spawn(file, args, { stdio });
      child.stderr.resume();
      const out = createWriteStream(path.join(dir, 'stdout'));
      await Promise.all([pipeline(child.stdout, out), once(child, 'close')]);
      return { bytes: out.bytesWritten };
    },
    close: async () => {},
  };
}
