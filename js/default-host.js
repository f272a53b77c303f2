'use strict';

const { ArgvaultError } = require('./errors.js');
const { Surface } = require('./surface.js');

function usedAlready() {
  const hint =
    'Call configureDefaultHost before any other argvault function, or make a host of your own with new CommandHost(options).';
  return new ArgvaultError({
    code: 'ERR_BAD_OPTION',
    message: `The default host is in use already, so its options can't change any more. ${hint}`,
    hint,
    details: {},
  });
}

/** What `ARGVAULT_VAULT` adds to options that name no vault. */
function withVault(options) {
  const vaultDir = process.env.ARGVAULT_VAULT;
  if (!vaultDir || (options && Object.hasOwn(options, 'vaultDir'))) return options;
  return typeof options === 'object' || options === undefined ? { ...options, vaultDir } : options;
}

/** The host behind the module's own functions: made at its first use, and made anew by the first policy after `dispose`. */
class DefaultHost extends Surface {
  #environment;
  #options;
  #core;
  #used = false;
  #disposed = false;

  constructor(environment) {
    super(
      () => this.#inUse(),
      set => this.#armed(set),
    );
    this.#environment = environment;
  }

  async configureDefaultHost(options) {
    if (this.#used && !this.#disposed) throw usedAlready();
    const core = this.#create(options);
    this.#options = options;
    if (!this.#disposed) this.#core = core;
  }

  async dispose() {
    if (this.#environment.loaded.error !== undefined) return;
    const core = this.#inUse();
    this.#disposed = true;
    await core.dispose();
  }

  /** Sets a policy; the first one after `dispose` makes the host anew. */
  #armed(set) {
    if (!this.#disposed) return set(this.#inUse());
    // A refused policy changes nothing: the host stays disposed.
    const core = this.#create(this.#options);
    const result = set(core);
    this.#core = core;
    this.#disposed = false;
    return result;
  }

  #create(options) {
    // Loaded by the first host and not by the import.
    const { HostCore } = require('./core.js');
    return new HostCore(this.#environment, withVault(options));
  }

  #inUse() {
    this.#core ??= this.#create(this.#options);
    this.#used = true;
    return this.#core;
  }
}

module.exports = { DefaultHost };
