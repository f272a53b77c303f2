'use strict';

const { ArgvaultError } = require('./errors.js');
const { Surface } = require('./surface.js');

// Loaded by the first host and not by the import.
const coreOf = (environment, options) => new (require('./core.js').HostCore)(environment, options);

/**
 * Makes the public class for one JavaScript environment.
 * @param {import('./environment.js').Environment} environment
 */
function commandHostClass(environment) {
  return class CommandHost extends Surface {
    #unavailable;

    constructor(options) {
      // Where the addon can't load, making a host works and each call says why it can't.
      const unavailable = environment.loaded.error;
      const core = unavailable === undefined ? coreOf(environment, options) : undefined;
      super(() => {
        if (core === undefined) throw new ArgvaultError(unavailable);
        return core;
      });
      this.#unavailable = unavailable;
    }

    async dispose() {
      if (this.#unavailable === undefined) await super.dispose();
    }
  };
}

module.exports = { commandHostClass };
