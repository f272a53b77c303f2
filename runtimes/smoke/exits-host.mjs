// A host that ends in the way that it is told to.
import process from 'node:process';
import { CommandHost } from 'argvault';

const { vaultDir, mark, end } = JSON.parse(process.argv[2]);
const waits = end === 'the end of the command';
const host = new CommandHost({
  vaultDir,
  keepAlive: end !== 'nothing left to do',
  onSettled: ({ state }) => waits && console.log(state),
});
await host.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/', killGraceMs: 100 });

if (waits) {
  await host.startBackgroundCommand(['sh', '-c', 'sleep 0.2']);
} else {
  const argv = ['sh', '-c', `setsid sleep 600 & echo ready; sleep 600 # ${mark}`];
  const { taskId } = await host.startBackgroundCommand(argv);
  for await (const _ of host.followLines(taskId)) break;
  console.log(taskId);
}

if (end === 'process.exit(3)') process.exit(3);
if (end === 'a SIGTERM') process.kill(process.pid, 'SIGTERM');
if (end === 'a SIGKILL') process.kill(process.pid, 'SIGKILL');
if (end === 'an uncaught error') {
  setTimeout(() => {
    throw new Error('uncaught');
  }, 0);
}
