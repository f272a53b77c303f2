// tinyexec: output as strings in memory, so it has no part in captures.
import { x } from 'tinyexec';

const options = { nodeOptions: { stdio: ['ignore', 'pipe', 'pipe'] } };

export async function open() {
  return {
    name: 'tinyexec',
    start([file, ...args]) {
      const child = x(file, args, options);
      // It is a thenable that reads the output from its first `then` on.
      return { started: Promise.resolve(), settled: Promise.resolve(child) };
    },
    close: async () => {},
  };
}
