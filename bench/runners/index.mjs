// Everybody who takes part, behind one interface:
//   start(argv) → { started, settled }   at once; promises
//   runTrue(), runMany(count)            until settled
//   capture(argv) → { ref, bytes }       output to a file, until settled
//   stderr(ref), page(ref, offset, limit), search(ref, text), killAll()
// A method is missing where the runner has nothing of the kind.
import { open as argvault } from './argvault.mjs';
import { open as background } from './background.mjs';
import { open as childProcess } from './child-process.mjs';
import { open as execa } from './execa.mjs';
import { open as nanoSpawn } from './nano-spawn.mjs';
import { open as tinyexec } from './tinyexec.mjs';

const openers = {
  argvault,
  background,
  child_process: childProcess,
  execa,
  tinyexec,
  'nano-spawn': nanoSpawn,
};

/** In the order of the table's columns. */
export const everybody = Object.keys(openers);

const TRUE = ['/bin/true'];

/** @param {{ dir: string, killGraceMs?: number }} options `dir` is the runner's own */
export async function openRunner(name, options) {
  const runner = await openers[name](options);
  return {
    ...runner,
    runTrue: () => runner.start(TRUE).settled,
    runMany: count => Promise.all(Array.from({ length: count }, () => runner.start(TRUE).settled)),
  };
}

/** Opens several, does the work with them, closes them whatever happens. */
export async function withRunners(names, places, work, options = {}) {
  const runners = [];
  try {
    for (const name of names) {
      const dir = places.make(name);
      runners.push({ ...(await openRunner(name, { dir, ...options })), dir });
    }
    return await work(runners);
  } finally {
    for (const runner of runners) {
      await runner.close();
      places.remove(runner.dir);
    }
  }
}
