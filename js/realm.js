'use strict';

const ROOTS = new Set([Object.prototype, Array.prototype]);

/**
 * A value of the addon as one of the realm that this package was loaded in. N-API makes objects in the main realm, and
 * test runners load packages in others (`node:vm`), where `instanceof Object` and strict equality would then say no.
 * Everywhere else this costs one look at a prototype.
 * @param {unknown} value what JSON can say, or bytes, which stay as they are
 */
function ofThisRealm(value) {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (ROOTS.has(Object.getPrototypeOf(value))) return value;
  if (Array.isArray(value)) return Array.from(value, ofThisRealm);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, ofThisRealm(entry)]));
}

module.exports = { ofThisRealm };
