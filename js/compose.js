'use strict';

const { DefaultHost } = require('./default-host.js');
const { Environment } = require('./environment.js');
const { ArgvaultError, isArgvaultError } = require('./errors.js');
const { commandHostClass } = require('./host.js');
const { Surface } = require('./surface.js');

/**
 * Puts the package together over one way of loading the addon.
 * @param {() => { ok?: object, error?: object }} load
 */
function compose(load) {
  const environment = new Environment(load);
  const host = new DefaultHost(environment);
  const names = Object.getOwnPropertyNames(Surface.prototype).filter(name => name !== 'constructor');
  return {
    ArgvaultError,
    CommandHost: commandHostClass(environment),
    isArgvaultError,
    isSupported: () => environment.isSupported(),
    configureDefaultHost: options => host.configureDefaultHost(options),
    ...Object.fromEntries(names.map(name => [name, host[name].bind(host)])),
  };
}

module.exports = { compose };
