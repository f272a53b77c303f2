'use strict';

/**
 * The commands of one host that were started and have not settled: what holds the event loop for them and what
 * still listens to their abort signals. A settled command leaves nothing behind.
 */
class Running {
  #relays = new Map();
  #hold;
  #whenEmpty;

  /**
   * @param {import('./hold.js').LoopHold | undefined} hold none when running commands don't keep the process
   * @param {() => void} whenEmpty
   */
  constructor(hold, whenEmpty) {
    this.#hold = hold;
    this.#whenEmpty = whenEmpty;
  }

  /** @param {import('./abort.js').AbortRelay} relay */
  add(taskId, relay) {
    this.#relays.set(taskId, [relay]);
    this.#hold?.take();
  }

  /** One more relay for a command that is not over; for any other it is released. */
  follow(taskId, relay) {
    const relays = this.#relays.get(taskId);
    if (relays === undefined) relay.release();
    else relays.push(relay);
  }

  remove(taskId) {
    const relays = this.#relays.get(taskId);
    if (!this.#relays.delete(taskId)) return;
    for (const relay of relays) relay.release();
    this.#hold?.release();
    if (this.#relays.size === 0) this.#whenEmpty();
  }
}

module.exports = { Running };
