// nano-spawn: output as strings in memory, so it has no part in captures.
import spawn from 'nano-spawn';

export async function open() {
  return {
    name: 'nano-spawn',
    start([file, ...args]) {
      const child = spawn(file, args, { stdin: 'ignore' });
      return { started: child.nodeChildProcess, settled: child };
    },
    close: async () => {},
  };
}
