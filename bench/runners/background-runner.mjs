// A background runner in plain JavaScript, as users write it: output through streams into files, a tail in memory,
// time budget and cap by process group, banking when a command is over, pages of text read back from the files.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';

const STREAMS = ['stdout', 'stderr'];
const TAIL_BYTES = 2_000;

export class BackgroundRunner {
  #dir;
  #budget;
  #tasks = new Map();

  constructor(dir, { timeoutMs = 600_000, maxOutputBytes = 2 ** 32, killGraceMs = 5_000 } = {}) {
    this.#dir = dir;
    this.#budget = { timeoutMs, maxOutputBytes, killGraceMs };
  }

  /** Answers once the process is there; `settled` of the task is its outcome. */
  async start(argv) {
    const id = randomUUID();
    const dir = path.join(this.#dir, id);
    await mkdir(dir, { mode: 0o700 });
    const [file, ...args] = argv;
    // A group of its own, so that children of the command can be reached too.
    const child = spawn(file, args, {
      cwd: '/',
      detached: true,
      env: { ...process.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const task = { id, argv, dir, child, state: 'running', startedAt: Date.now(), bytes: {}, tails: {} };
    const timer = setTimeout(() => this.#end(task, 'timeout'), this.#budget.timeoutMs);
    const saved = STREAMS.map(name => this.#save(task, name));
    task.settled = this.#settle(task, saved).finally(() => clearTimeout(timer));
    // Whoever awaits the task learns of a failure; nobody has to.
    task.settled.catch(() => {});
    this.#tasks.set(id, task);
    return task;
  }

  /** A page of `limit` UTF-16 units at `offset`. Files are bytes, so everything before it has to be decoded. */
  async read(task, { stream = 'stdout', offset = 0, limit = 50_000 } = {}) {
    let seen = 0;
    let content = '';
    for await (const text of createReadStream(path.join(task.dir, stream), { encoding: 'utf8' })) {
      if (seen + text.length > offset)
        content += text.slice(Math.max(0, offset - seen), offset + limit - seen);
      seen += text.length;
      if (seen >= offset + limit) break;
    }
    return { content, offset, limit, nextOffset: offset + content.length };
  }

  /** Lines that match, with their numbers. */
  async search(task, pattern) {
    const matches = [];
    const input = createReadStream(path.join(task.dir, 'stdout'));
    let line = 0;
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1;
      if (pattern.test(text)) matches.push({ line, text });
    }
    return matches;
  }

  async killAll() {
    const running = [...this.#tasks.values()].filter(({ state }) => state === 'running');
    for (const task of running) this.#end(task, 'killed');
    await Promise.all(running.map(task => task.settled));
    return running.length;
  }

  #save(task, name) {
    const file = createWriteStream(path.join(task.dir, name), { mode: 0o600 });
    const { [name]: stream } = task.child;
    task.bytes[name] = 0;
    task.tails[name] = Buffer.alloc(0);
    stream.on('data', chunk => {
      task.bytes[name] += chunk.length;
      task.tails[name] =
        chunk.length >= TAIL_BYTES
          ? chunk.subarray(-TAIL_BYTES)
          : Buffer.concat([task.tails[name], chunk]).subarray(-TAIL_BYTES);
      if (task.bytes[name] > this.#budget.maxOutputBytes) this.#end(task, 'output-limit');
    });
    stream.pipe(file);
    return finished(file);
  }

  async #settle(task, saved) {
    const [exitCode, signal] = await once(task.child, 'close');
    await Promise.all(saved);
    task.capturedAt = performance.now();
    await Promise.all(STREAMS.map(name => this.#bank(task, name)));
    if (task.state === 'running') task.state = 'exited';
    const { id, argv, state, startedAt, bytes } = task;
    task.tail = STREAMS.map(name => task.tails[name].toString()).join('\n');
    // What is over keeps its tail and no buffers.
    task.tails = undefined;
    task.child = undefined;
    const record = { id, argv, state, startedAt, settledAt: Date.now(), bytes, exitCode, signal };
    await writeFile(path.join(task.dir, 'record.json'), JSON.stringify(record));
    return record;
  }

  /** Keeps a stream's bytes under an id of their own, apart from the log that the next run may write to. */
  async #bank(task, name) {
    await copyFile(path.join(task.dir, name), path.join(this.#dir, `${task.id}-${name}.artifact`));
  }

  #end(task, state) {
    if (task.state !== 'running') return;
    task.state = state;
    this.#signal(task, 'SIGTERM');
    const timer = setTimeout(() => this.#signal(task, 'SIGKILL'), this.#budget.killGraceMs);
    task.settled.finally(() => clearTimeout(timer)).catch(() => {});
  }

  #signal(task, signal) {
    try {
      process.kill(-task.child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}
