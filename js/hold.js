'use strict';

// Taken at load, so that a test's fake clock can't let go of the event loop.
const { setInterval, clearInterval } = require('node:timers');

// The longest delay that a timer takes: 24.8 days between wake-ups that do nothing.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Keeps the event loop alive while at least one reason is held. The native port never does by itself. */
class LoopHold {
  #reasons = 0;
  #timer = null;

  take() {
    this.#reasons += 1;
    this.#timer ??= setInterval(() => {}, LONGEST_DELAY_MS);
  }

  release() {
    this.#reasons -= 1;
    if (this.#reasons > 0) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

module.exports = { LoopHold, LONGEST_DELAY_MS };
