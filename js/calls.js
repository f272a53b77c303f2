'use strict';

const { ArgvaultError } = require('./errors.js');
const { ofThisRealm } = require('./realm.js');

/**
 * The calls that the native side still owes an answer. Each holds the event loop until it has one: a process
 * must not exit under an `await`.
 */
class Calls {
  #pending = new Map();
  #lastId = 0;
  #hold;
  #onEvent;

  /**
   * @param {import('./hold.js').LoopHold} hold
   * @param {(event: { host: number, type: string, status: object }) => void} onEvent
   */
  constructor(hold, onEvent) {
    this.#hold = hold;
    this.#onEvent = onEvent;
  }

  /**
   * @param {(id: number) => { ok?: unknown, error?: object }} invoke makes the native call; may fail at once
   * @param {(value: unknown) => void} [onValue] sees the value before any later event of the same batch does,
   *   which a promise's reaction would not
   */
  call(invoke, onValue) {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#hold.take();
      this.#pending.set(id, { resolve, reject, onValue });
      try {
        const answer = invoke(id);
        if (answer?.error !== undefined) this.#settle({ id, ok: false, value: answer.error });
      } catch (error) {
        this.#forget(id);
        reject(error);
      }
    });
  }

  /** What the native port calls with everything that has become known since the last turn. */
  deliver = batch => {
    for (const { id, ok, value } of batch) {
      if (id === 0) this.#onEvent(ofThisRealm(value));
      else this.#settle({ id, ok, value: ofThisRealm(value) });
    }
  };

  #settle({ id, ok, value }) {
    const call = this.#forget(id);
    if (call === undefined) return;
    if (!ok) {
      call.reject(new ArgvaultError(value));
      return;
    }
    call.onValue?.(value);
    call.resolve(value);
  }

  #forget(id) {
    const call = this.#pending.get(id);
    if (this.#pending.delete(id)) this.#hold.release();
    return call;
  }
}

module.exports = { Calls };
