'use strict';

const diagnostics = require('node:diagnostics_channel');

const channels = {
  onStarted: diagnostics.channel('argvault:start'),
  onSettled: diagnostics.channel('argvault:settled'),
  onRefused: diagnostics.channel('argvault:refused'),
};

function complain(name, error) {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`The ${name} listener failed; the command is not affected.`, {
    type: 'ArgvaultListenerWarning',
    detail,
  });
}

/** Tells a host's own listeners, and whoever subscribed to the channels, what happened. */
class Events {
  #listeners;

  /** @param {unknown} options the host's; their types are checked by the native side */
  constructor(options) {
    const own = name => (options && Object.hasOwn(options, name) ? options[name] : undefined);
    this.#listeners = Object.fromEntries(Object.keys(channels).map(name => [name, own(name)]));
  }

  /** Whether anybody is told right now: what takes work to put together is left alone where nobody is. */
  isHeard(name) {
    return this.#listeners[name] !== undefined || channels[name].hasSubscribers;
  }

  emit(name, message) {
    this.#tell(name, message);
    if (channels[name].hasSubscribers) channels[name].publish(message);
  }

  #tell(name, message) {
    try {
      const result = this.#listeners[name]?.(message);
      // An async listener's rejection would otherwise end the process.
      if (typeof result?.then === 'function') result.then(undefined, error => complain(name, error));
    } catch (error) {
      complain(name, error);
    }
  }
}

module.exports = { Events };
