// `node --test` runs each file in a process of its own: their default hosts share the vault of ARGVAULT_VAULT.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as argvault from 'argvault';

export function sharesTheVault(otherSession) {
  const sessionId = `process ${process.pid}`;
  test(`this process shares its vault with ${otherSession}`, async () => {
    await argvault.setBackgroundCommandPolicy({ allowedExecutables: ['sh'], cwdRoot: '/' });
    const runs = Array.from({ length: 25 }, (_, i) =>
      argvault.runCommand(['sh', '-c', `echo ${process.pid}; exit ${i}`], { sessionId }),
    );
    for (const [i, { taskId, exitCode, stdout }] of (await Promise.all(runs)).entries()) {
      assert.equal(exitCode, i);
      assert.equal(await argvault.readArtifact(stdout.artifactId), `${process.pid}\n`);
      assert.equal(argvault.getBackgroundCommandStatus(taskId).state, 'exited');
    }
    const { commands } = await argvault.listCommands({ sessionId, limit: 100 });
    assert.equal(commands.length, runs.length);
    await argvault.dispose();
  });
}
