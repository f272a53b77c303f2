'use strict';

/**
 * `process.env` as it is now. One string, each name and each value ended by a NUL, is what crosses to the native side
 * at the least cost; where a program has put an object in its place that no such string can say, a record goes.
 */
function environmentVariables() {
  const { env } = process;
  let joined = '';
  for (const name of Reflect.ownKeys(env)) {
    const value = env[name];
    if (typeof value !== 'string' || typeof name !== 'string') return { ...env };
    if (value.includes('\0') || name.includes('\0')) return { ...env };
    joined += `${name}\0${value}\0`;
  }
  return joined.isWellFormed() ? joined : { ...env };
}

module.exports = { environmentVariables };
