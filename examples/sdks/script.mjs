// What the mock models of these examples say next, given the tool results so far: start a command, wait for it, report.
import { tmpdir } from 'node:os';

export const policy = { allowedExecutables: ['node'], cwdRoot: tmpdir() };

export function nextTurn(results) {
  const [started, status] = results;
  if (started === undefined) {
    const argv = ['node', '--print', '6 * 7'];
    return { toolName: 'run_command_bg', params: { argv } };
  }
  if (status === undefined) {
    const params = { taskId: started.taskId, waitMs: 30_000 };
    return { toolName: 'command_status', params };
  }
  return { text: `It ${status.state} with ${status.exitCode}: ${status.tailPreview}` };
}
