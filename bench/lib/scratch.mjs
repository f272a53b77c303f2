// Places for files, gone when the benchmark is over, however it ends.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const gone = dir => rmSync(dir, { recursive: true, force: true, maxRetries: 3 });

/** @param {(dir: string) => void} [first] ends whoever still writes there */
export function makeScratch(first = () => {}) {
  const dir = mkdtempSync(path.join(tmpdir(), 'argvault-bench-'));
  process.on('exit', () => {
    first(dir);
    gone(dir);
  });
  return dir;
}

/** Folders inside a scenario's scratch directory, numbered. */
export class Places {
  #dir;
  #last = 0;

  constructor(dir) {
    this.#dir = dir;
  }

  make(name) {
    this.#last += 1;
    const dir = path.join(this.#dir, `${name}-${this.#last}`);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return dir;
  }

  remove(dir) {
    gone(dir);
  }
}
