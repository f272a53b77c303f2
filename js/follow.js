'use strict';

const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A stream's bytes as they come. Nothing is opened before the first `next`, one chunk is asked for at a time, and
 * leaving the loop closes it, also while a `next` is still waiting for output.
 */
class OutputIterator {
  #open;
  #source;
  #turn = Promise.resolve();
  #done = false;

  /** @param {() => Promise<{ next(): Promise<Buffer | null>, close(): void }>} open */
  constructor(open) {
    this.#open = open;
  }

  next() {
    // Concurrent calls answer in the order they were made.
    const result = this.#turn.then(() => this.#pull());
    this.#turn = result.catch(() => {});
    return result;
  }

  async return(value) {
    await this.#close();
    return { done: true, value };
  }

  async [asyncDispose]() {
    await this.#close();
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async #pull() {
    if (this.#done) return { done: true, value: undefined };
    try {
      this.#source ??= this.#open();
      const source = await this.#source;
      const value = this.#done ? null : await source.next();
      if (value !== null && !this.#done) return { done: false, value };
    } catch (error) {
      await this.#close();
      throw error;
    }
    await this.#close();
    return { done: true, value: undefined };
  }

  async #close() {
    if (this.#done) return;
    this.#done = true;
    const source = await this.#source?.catch(() => undefined);
    source?.close();
  }
}

/** Makes lines, without their line breaks, of a source of bytes. Characters split between chunks are put together. */
function lineSource(bytes) {
  // Decodes as `Buffer.toString('utf8')` does, which keeps a byte order mark.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const ready = [];
  let rest = '';
  let ended = false;

  const take = text => {
    const [head, ...tail] = text.split('\n');
    rest += head;
    for (const piece of tail) {
      ready.push(rest.endsWith('\r') ? rest.slice(0, -1) : rest);
      rest = piece;
    }
  };

  const more = async () => {
    const chunk = await bytes.next();
    if (chunk !== null) return take(decoder.decode(chunk, { stream: true }));
    ended = true;
    take(decoder.decode());
    if (rest !== '') ready.push(rest);
  };

  return {
    async next() {
      while (ready.length === 0 && !ended) await more();
      return ready.shift() ?? null;
    },
    close: () => bytes.close(),
  };
}

module.exports = { OutputIterator, lineSource, asyncDispose };
