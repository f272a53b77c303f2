'use strict';

const { ofThisRealm } = require('./realm.js');

// Registered under a global key, so that errors are known across realms and across copies of this package.
const BRAND = Symbol.for('argvault.error');

/** What every refusal and failure of this package is. */
class ArgvaultError extends Error {
  /** @param {{ code: string, message: string, hint: string, details: Record<string, unknown> }} wire */
  constructor({ code, message, hint, details }) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.details = ofThisRealm(details);
  }

  /** By the brand here too: a module registry that was reset has made another class of this name. */
  static [Symbol.hasInstance](value) {
    return isArgvaultError(value);
  }
}

Object.defineProperties(ArgvaultError.prototype, {
  name: { value: 'ArgvaultError', writable: true, configurable: true },
  [BRAND]: { value: true },
});

function isArgvaultError(value) {
  return typeof value === 'object' && value !== null && value[BRAND] === true;
}

/** The value of a tagged answer of the native side; throws what it says went wrong. */
function unwrap(answer) {
  if (answer.error !== undefined) throw new ArgvaultError(answer.error);
  return ofThisRealm(answer.ok);
}

module.exports = { ArgvaultError, isArgvaultError, unwrap };
