'use strict';

const { inBand } = require('./errors.js');
const { asyncDispose, lineSource, OutputIterator } = require('./follow.js');

/**
 * The calls of a host, each said once for `CommandHost` and for the module's own functions. A subclass says which
 * host core they act on. `async` here means: whatever goes wrong is a rejection.
 */
class Surface {
  /** @type {() => import('./core.js').HostCore} */
  #core;
  #withPolicy;

  /** @param withPolicy runs what sets a policy, on the core that the policy is for */
  constructor(core, withPolicy = set => set(core())) {
    this.#core = core;
    this.#withPolicy = withPolicy;
  }

  async setBackgroundCommandPolicy(policy) {
    return this.#withPolicy(core => core.setPolicy(policy));
  }

  async registerBackgroundCommandTools(policy) {
    this.#withPolicy(core => core.registerCommandTools(policy));
    return this.tools();
  }

  getBackgroundCommandPolicy() {
    return this.#core().policy();
  }

  async startBackgroundCommand(argv, options) {
    return this.#core().start(argv, options);
  }

  getBackgroundCommandStatus(taskId) {
    return this.#core().sync('status', taskId);
  }

  async awaitBackgroundCommand(taskId, options) {
    return this.#core().wait(taskId, options);
  }

  async runCommand(argv, options) {
    const core = this.#core();
    const { taskId } = await core.start(argv, options);
    return core.wait(taskId);
  }

  async killBackgroundCommand(taskId, signal) {
    return this.#core().call('kill', taskId, signal);
  }

  async killAll() {
    return this.#core().call('killAll');
  }

  async killAllBackgroundCommands() {
    return this.killAll();
  }

  async readBackgroundCommandOutput(taskId, options) {
    return this.#core().call('readOutput', taskId, options);
  }

  async readArtifact(artifactId) {
    return this.#core().call('readArtifact', artifactId);
  }

  async readArtifactBytes(artifactId, options) {
    return this.#core().call('readArtifactBytes', artifactId, options);
  }

  async bankArtifact(content, options) {
    return this.#core().call('bankArtifact', content, options);
  }

  followOutput(taskId, options) {
    return new OutputIterator(async () => this.#core().follow(taskId, options));
  }

  followLines(taskId, options) {
    return new OutputIterator(async () => lineSource(await this.#core().follow(taskId, options)));
  }

  async searchOutput(taskId, options) {
    return this.#core().call('search', taskId, options);
  }

  async listCommands(options) {
    return this.#core().call('list', options);
  }

  backgroundCommandCounts(sessionId) {
    return this.#core().sync('counts', sessionId);
  }

  async cleanup(options) {
    return this.#core().call('cleanup', options);
  }

  tools() {
    const bound = ({ name, ...rest }) => ({
      name,
      ...rest,
      execute: (params, context) => this.executeTool(name, params, context),
    });
    return this.#core().tools().map(bound);
  }

  async registerGitTools(options) {
    this.#core().registerGitTools(options);
    return this.tools();
  }

  async runGitCommand(args, sessionId) {
    return this.#core().call('runGitCommand', args, sessionId);
  }

  setToolContext(context) {
    this.#core().sync('setToolContext', context);
  }

  async executeTool(name, params, context) {
    try {
      return await this.#core().executeTool(name, params, context);
    } catch (error) {
      return inBand(error);
    }
  }

  async dispose() {
    await this.#core().dispose();
  }

  async [asyncDispose]() {
    await this.dispose();
  }
}

module.exports = { Surface };
