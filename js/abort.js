'use strict';

// One listener per signal however many commands share it: Node warns about a leak from the eleventh on.
const shared = new WeakMap();

function isAbortSignal(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' &&
    typeof value.removeEventListener === 'function'
  );
}

/**
 * Takes `abortSignal` out of options, since it can't cross to Rust. Anything else under that name stays, and is
 * refused there like every other value of the wrong kind.
 */
function takeSignal(options) {
  if (typeof options !== 'object' || options === null || !Object.hasOwn(options, 'abortSignal')) {
    return { options };
  }
  const { abortSignal, ...rest } = options;
  if (abortSignal === undefined) return { options: rest };
  return isAbortSignal(abortSignal) ? { options: rest, signal: abortSignal } : { options };
}

/** Takes `killOnAbort` out of a tool call's context, in the same way. */
function takeKillOnAbort(context) {
  if (typeof context?.killOnAbort !== 'boolean') return { context, killOnAbort: false };
  const { killOnAbort, ...rest } = context;
  return { context: rest, killOnAbort };
}

function listen(signal, relay) {
  let group = shared.get(signal);
  if (group === undefined) {
    const relays = new Set();
    const onAbort = () => {
      for (const each of [...relays]) each.fire();
    };
    group = { relays, onAbort };
    shared.set(signal, group);
    signal.addEventListener('abort', onAbort);
  }
  group.relays.add(relay);
}

function unlisten(signal, relay) {
  const group = shared.get(signal);
  if (!group?.relays.delete(relay) || group.relays.size > 0) return;
  signal.removeEventListener('abort', group.onAbort);
  shared.delete(signal);
}

/** Follows one signal through the life of one call; what an abort means changes as the call goes on. */
class AbortRelay {
  #signal;
  #reaction;

  /** @param {AbortSignal} [signal] */
  constructor(signal) {
    this.#signal = signal;
    if (signal !== undefined && !signal.aborted) listen(signal, this);
  }

  get aborted() {
    return this.#signal?.aborted === true;
  }

  /** From now on an abort does `reaction`, at once if it has already come. */
  means(reaction) {
    this.#reaction = reaction;
    if (this.aborted) this.fire();
  }

  fire() {
    const reaction = this.#reaction;
    this.#reaction = undefined;
    reaction?.();
  }

  release() {
    this.#reaction = undefined;
    if (this.#signal !== undefined) unlisten(this.#signal, this);
    this.#signal = undefined;
  }
}

module.exports = { AbortRelay, takeKillOnAbort, takeSignal };
