'use strict';

const { Calls } = require('./calls.js');
const { unwrap } = require('./errors.js');
const { LoopHold } = require('./hold.js');
const { ofThisRealm } = require('./realm.js');

/** What the hosts of one JavaScript environment share: the addon, the port through which it answers, the calls. */
class Environment {
  #load;
  #loaded;
  #port;
  #lastHostId = 0;
  // Only hosts with commands under way are in here, so that a host nobody holds can go.
  #sinks = new Map();

  hold = new LoopHold();
  calls = new Calls(this.hold, event => this.#sinks.get(event.host)?.(event));

  /** @param {() => { ok?: object, error?: object }} load */
  constructor(load) {
    this.#load = load;
  }

  /** The addon, or why there is none; loaded at the first question. */
  get loaded() {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  /** @returns {{ hostId: number, native: object }} a native host, or throws why there can be none */
  createHost(options) {
    const binding = unwrap(this.loaded);
    this.#port ??= new binding.Port(this.calls.deliver);
    this.#lastHostId += 1;
    const hostId = this.#lastHostId;
    unwrap(binding.checkHostOptions(options));
    return { hostId, native: new binding.Host(this.#port, hostId, options, { ...process.env }) };
  }

  listen(hostId, sink) {
    this.#sinks.set(hostId, sink);
  }

  unlisten(hostId) {
    this.#sinks.delete(hostId);
  }

  isSupported() {
    const { ok: binding, error } = this.loaded;
    if (error !== undefined) return { ok: false, code: error.code, reason: error.message };
    return ofThisRealm(binding.isSupported());
  }
}

module.exports = { Environment };
