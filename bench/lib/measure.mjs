// How things are timed: medians of rounds that take turns, the event loop's longest turn, the host's own cost.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitedForCpuMs } from './proc.mjs';

export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
}

/** Samples by who made them. */
export class Samples {
  values = {};

  add(name, ...samples) {
    this.values[name] = [...(this.values[name] ?? []), ...samples];
  }

  /** One line of the table; `values` stay raw, so that lines of several processes can be put together. */
  line(id, title, unit, more = {}) {
    return { id, title, unit, values: this.values, ...more };
  }
}

/**
 * Lets every entrant have its turn in every round, each time beginning with another one: what disturbs the machine
 * disturbs all of them. Garbage is collected before each turn, so that nobody pays for the one before.
 */
export async function inTurns(rounds, entrants, turn) {
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < entrants.length; i += 1) {
      const entrant = entrants[(round + i) % entrants.length];
      globalThis.gc?.();
      await nextTurn();
      await turn(entrant, round);
    }
  }
}

export async function timed(work) {
  const begun = performance.now();
  const result = await work();
  return { ms: performance.now() - begun, result };
}

/** Like `timed`, and for how long of it the event loop was at work instead of waiting. */
export async function timedWithLoop(work) {
  const before = performance.eventLoopUtilization();
  const { ms, result } = await timed(work);
  return { ms, result, busyMs: performance.eventLoopUtilization(before).active };
}

/** Stands still while the loop's thread waits for a CPU: on few cores what was started takes its turn there. */
const loopClock = () => performance.now() - waitedForCpuMs();

/** Turns the event loop without a pause until `done`, and says how long its longest turn took. */
async function longestTurn(done) {
  let ended = false;
  const ending = done.finally(() => {
    ended = true;
  });
  // No promise a turn: the watch must not be what fills the heap and has it collected.
  const longest = await new Promise(resolve => {
    let [most, before] = [0, loopClock()];
    const turn = () => {
      const now = loopClock();
      most = Math.max(most, now - before);
      before = now;
      if (ended) resolve(most);
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
  await ending;
  return longest;
}

/** How long the call itself holds the loop, and the longest hold from the call until the command has settled. */
export async function holdOf(start) {
  await nextTurn();
  const begun = loopClock();
  const command = start();
  const callMs = loopClock() - begun;
  const turnMs = await longestTurn(command.settled);
  return { callMs, holdMs: Math.max(callMs, turnMs) };
}

/** Memory that the process holds and a fork has to copy the tables of: filled, since untouched pages cost nothing. */
export function ballast(mebibytes) {
  const size = Math.min(64, mebibytes);
  return Array.from({ length: Math.ceil(mebibytes / size) }, () => Buffer.alloc(size * 2 ** 20, 1));
}
