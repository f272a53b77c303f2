// A file of its own: it can't even be parsed before Node 24.
import assert from 'node:assert/strict';
import { written } from '../lib/cases.mjs';

export async function awaitUsing({ argvault, policy, host: other, vaultDir }) {
  let taskId;
  {
    await using host = new argvault.CommandHost({ vaultDir });
    await host.setBackgroundCommandPolicy(policy);
    ({ taskId } = await host.startBackgroundCommand(['sh', '-c', 'echo ready; exec sleep 600']));
    await using lines = host.followLines(taskId);
    assert.equal((await lines.next()).value, 'ready');
    await written(host, taskId, 'ready');
  }
  assert.equal(other.getBackgroundCommandStatus(taskId).cause, 'kill-all');
}
