// argvault as an entrant.
import path from 'node:path';
// By path: this folder has a package.json of its own, so the package's name does not lead to it.
import { CommandHost } from '../../index.mjs';

const GIBIBYTES_2 = 2 ** 31;

export async function open({ dir, killGraceMs }) {
  const host = new CommandHost({ vaultDir: path.join(dir, 'vault') });
  await host.setBackgroundCommandPolicy({
    allowedExecutables: ['/bin/true', 'head', 'seq', 'sleep', 'env', 'bash'],
    cwdRoot: '/',
    defaultTimeoutMs: 600_000,
    maxOutputBytes: GIBIBYTES_2,
    ...(killGraceMs && { killGraceMs }),
  });
  const settled = async started => host.awaitBackgroundCommand((await started).taskId);
  return {
    name: 'argvault',
    start(argv) {
      const started = host.startBackgroundCommand(argv);
      return { started, settled: settled(started) };
    },
    async capture(argv) {
      const status = await host.runCommand(argv);
      if (status.state !== 'exited') throw new Error(`${argv.join(' ')}: ${status.state}, ${status.cause}`);
      return { ref: status, bytes: status.stdoutBytes };
    },
    stderr: ({ stderr }) => host.readArtifact(stderr.artifactId),
    page: ({ taskId }, offset, limit) => host.readBackgroundCommandOutput(taskId, { offset, limit }),
    async search({ taskId }, text) {
      return (await host.searchOutput(taskId, { pattern: text, literal: true })).matches;
    },
    killAll: () => host.killAll(),
    close: () => host.dispose(),
  };
}
