// Facts about the machine that a test waits for or asserts. Knows nothing of the package, so that every copy of it can
// be tested with these.
import assert from 'node:assert/strict';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export const CEILING_MS = 30_000;

/** Asks again until `fact` answers something truthy; says what was last seen when it never does. */
export async function eventually(fact, what, ceilingMs = CEILING_MS) {
  const end = performance.now() + ceilingMs;
  for (;;) {
    const answer = await fact();
    if (answer) return answer;
    if (performance.now() > end) assert.fail(`never came: ${what}; last seen: ${answer}`);
    await sleep(10);
  }
}

/** The state letter of a process, or nothing when it is gone; a zombie is `Z`. */
export async function processState(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

export const isAlive = async pid => !['Z', 'X', undefined].includes(await processState(pid));

/** Processes whose command line holds `mark`: what a test's command left behind. */
export async function processesWith(mark) {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((pid, i) => pid !== process.pid && lines[i].includes(mark));
}

/** What this process holds open at or below a directory. */
export async function openBelow(dir) {
  const held = await readdir('/proc/self/fd');
  const links = await Promise.all(held.map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter(file => file === dir || file.startsWith(`${dir}/`));
}
