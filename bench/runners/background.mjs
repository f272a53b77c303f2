// The plain JavaScript background runner as an entrant.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BackgroundRunner } from './background-runner.mjs';

export async function open({ dir, killGraceMs }) {
  const runner = new BackgroundRunner(dir, { killGraceMs });
  const settled = async started => {
    const task = await started;
    await task.settled;
    return task;
  };
  return {
    name: 'background',
    start(argv) {
      const started = runner.start(argv);
      return { started, settled: settled(started) };
    },
    async capture(argv) {
      const task = await settled(runner.start(argv));
      return { ref: task, bytes: task.bytes.stdout, capturedAt: task.capturedAt };
    },
    stderr: task => readFile(path.join(task.dir, 'stderr'), 'utf8'),
    page: (task, offset, limit) => runner.read(task, { offset, limit }),
    search: (task, text) => runner.search(task, new RegExp(text)),
    killAll: () => runner.killAll(),
    close: () => runner.killAll(),
  };
}
