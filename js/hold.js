'use strict';

// Taken at load, so that a test's fake clock can't let go of the event loop.
const { setInterval } = require('node:timers');

// The longest delay that a timer takes: 24.8 days between wake-ups that do nothing.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Keeps the event loop alive while at least one reason is held. The native port never does by itself. */
class LoopHold {
  #reasons = 0;
  // Made once and then only held on to and let go: making it anew would be paid for at every start.
  #timer;

  take() {
    this.#reasons += 1;
    if (this.#reasons > 1) return;
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, LONGEST_DELAY_MS);
    else this.#timer.ref();
  }

  release() {
    this.#reasons -= 1;
    if (this.#reasons === 0) this.#timer.unref();
  }
}

module.exports = { LoopHold, LONGEST_DELAY_MS };
