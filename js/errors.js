'use strict';

// Registered under a global key, so that errors are known across realms and across copies of this package.
const BRAND = Symbol.for('argvault.error');

/** What every refusal and failure of this package is. */
class ArgvaultError extends Error {
  /** @param {{ code: string, message: string, hint: string, details: Record<string, unknown> }} wire */
  constructor({ code, message, hint, details }) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.details = details;
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

/**
 * The value of an answer of the native side; throws what it says went wrong.
 * @param {{ ok: boolean, json: string }} answer
 */
function unwrap({ ok, json }) {
  const value = JSON.parse(json);
  if (!ok) throw new ArgvaultError(value);
  return value;
}

/** What a model gets when a call could not even reach the native side, which words its own refusals. */
function inBand(error) {
  const message = error instanceof Error ? error.message : String(error);
  return { isError: true, error: message, code: isArgvaultError(error) ? error.code : 'ERR_INTERNAL' };
}

module.exports = { ArgvaultError, inBand, isArgvaultError, unwrap };
