// The bare kernel, as far as a compiled program gets to it: benches/posix_spawn.rs, built once.
import { spawnSync } from 'node:child_process';
import { root } from './paths.mjs';

/** Builds it and says where it is; `undefined` without Rust, and then the table has no limits. */
export function buildFloor() {
  const what = ['--release', '--locked', '--bench', 'posix_spawn', '--no-default-features'];
  const { status, stdout, error } = spawnSync('cargo', ['build', ...what, '--message-format=json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) {
    console.error(
      `no limits in this run: cargo could not build benches/posix_spawn.rs (${error?.code ?? status})`,
    );
    return undefined;
  }
  // Cargo says where it put it, wherever CARGO_TARGET_DIR points.
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
    .findLast(({ target, executable }) => target?.name === 'posix_spawn' && executable)?.executable;
}

/** The limit as an entrant beside the runners: each method answers milliseconds. */
export class Floor {
  #file;

  constructor(file) {
    this.#file = file;
  }

  /** `count` times spawn and wait, one after the other. */
  oneByOne(count) {
    return this.#ask('true', count);
  }

  /** `count` at once, then a wait for each. */
  atOnce(count) {
    return this.#ask('many', count);
  }

  /** `argv > file` */
  toFile(file, argv) {
    return this.#ask('capture', file, ...argv);
  }

  /** `count` reads of `length` bytes at `offset`. */
  pages(file, offset, length, count) {
    return this.#ask('page', file, offset, length, count);
  }

  #ask(...args) {
    const { status, stdout, stderr, error } = spawnSync(this.#file, args.map(String), { encoding: 'utf8' });
    if (status !== 0) throw new Error(`posix_spawn ${args.join(' ')}: ${error ?? stderr}`);
    return JSON.parse(stdout).ms;
  }
}
