// What /proc says about processes.
import { openSync, readdirSync, readFileSync, readlinkSync, readSync, writeFileSync } from 'node:fs';

const quietly = (read, otherwise) => {
  try {
    return read();
  } catch {
    // The process may end at any moment, and belong to somebody else.
    return otherwise;
  }
};

const kilobytes = (text, field) => Number(text.match(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm'))?.[1]) * 1024;

export const allPids = () =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);

export const openFiles = () => readdirSync('/proc/self/fd').length;
export const threads = () => readdirSync('/proc/self/task').length;

const schedule = quietly(() => openSync(`/proc/self/task/${process.pid}/schedstat`, 'r'));
const scheduleText = Buffer.alloc(128);

/** Milliseconds in which the main thread wanted to run and had no CPU, since it began; 0 where that isn't counted. */
export function waitedForCpuMs() {
  if (schedule === undefined) return 0;
  // Time on a CPU, time waiting for one, number of turns: nanoseconds in decimal. Read without garbage.
  readSync(schedule, scheduleText, 0, scheduleText.length, 0);
  let nanoseconds = 0;
  for (let i = scheduleText.indexOf(32) + 1; scheduleText[i] !== 32; i += 1) {
    nanoseconds = nanoseconds * 10 + scheduleText[i] - 48;
  }
  return nanoseconds / 1e6;
}

/** Bytes of one field of `status` (`VmRSS`, `VmHWM`). */
export const memory = field => kilobytes(readFileSync('/proc/self/status', 'utf8'), field);

/** Private memory that no file backs, in bytes; `undefined` for a process that is gone. */
export const anonymous = (pid = 'self') =>
  quietly(() => kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Anonymous'));

/** Makes `VmHWM` start again from what is resident now. */
export const forgetPeak = () => writeFileSync('/proc/self/clear_refs', '5');

export const parentOf = pid => {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The name in brackets may itself hold brackets and spaces.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

const executableOf = pid => quietly(() => readlinkSync(`/proc/${pid}/exe`), '');
const nameOf = pid => quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '');

/** Descendants of this process, at the time of looking. */
export function descendants() {
  const byParent = new Map();
  for (const pid of allPids()) {
    const parent = parentOf(pid);
    byParent.set(parent, [...(byParent.get(parent) ?? []), pid]);
  }
  const found = [];
  for (const queue = [process.pid]; queue.length > 0; ) {
    const below = byParent.get(queue.pop()) ?? [];
    found.push(...below);
    queue.push(...below);
  }
  return found;
}

export const descendantsNamed = name => descendants().filter(pid => nameOf(pid) === name);

/** The processes of argvault that look after one command each: they are children of a warden, which is another. */
export function keepers() {
  const family = descendants();
  const isOurs = pid => /argvault-warden|memfd:/.test(executableOf(pid) + nameOf(pid));
  const ours = new Set(family.filter(isOurs));
  return [...ours].filter(pid => ours.has(parentOf(pid)));
}

const isMarked = (pid, mark) =>
  quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '').includes(mark);

const holds = (pid, dir) =>
  quietly(() => readdirSync(`/proc/${pid}/fd`), []).some(fd =>
    quietly(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '').startsWith(`${dir}/`),
  );

/**
 * What a scenario left behind, in whatever process group: it carries `mark` in its environment, or, as wardens and
 * keepers have none, holds files in `dir`, removed ones too.
 */
export const leftovers = (mark, dir) =>
  allPids().filter(pid => pid !== process.pid && (isMarked(pid, mark) || holds(pid, dir)));

export function killAll(pids) {
  for (const pid of pids) quietly(() => process.kill(pid, 'SIGKILL'));
}
