// Starts commands and waits for them, until it is terminated. It reports each command as soon as it has one, and keeps
// starting, so that a termination also meets starts under way.
import { parentPort, workerData } from 'node:worker_threads';
import { CommandHost } from 'argvault';

const { vaultDir, mark } = workerData;
const host = new CommandHost({ vaultDir });
await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/', killGraceMs: 100 });
const argv = ['sh', '-c', `setsid sleep 600 & echo ready; sleep 600; : ${mark}`];

for (let round = 0; round < 3; round += 1) {
  const { taskId } = await host.startBackgroundCommand(argv);
  parentPort.postMessage(taskId);
}
const controller = new AbortController();
await Promise.all([
  host.awaitBackgroundCommand('none').catch(() => {}),
  host.runCommand(argv, { abortSignal: controller.signal }).catch(() => {}),
  (async () => {
    for await (const _ of host.followOutput((await host.startBackgroundCommand(argv)).taskId));
  })(),
]);
