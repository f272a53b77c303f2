'use strict';

const { AbortRelay, takeSignal } = require('./abort.js');
const { unwrap } = require('./errors.js');
const { Events } = require('./events.js');
const { answerTo, hooksOf } = require('./hooks.js');
const { Running } = require('./running.js');
const { ToolCalls } = require('./tools.js');

const environmentVariables = () => ({ ...process.env });

/** `process.env` itself, which is no plain object in Node, becomes the copy that is meant. */
const withPlainEnv = options =>
  options?.env === process.env ? { ...options, env: environmentVariables() } : options;

/** One native host with what only JavaScript can do for it: hooks, listeners, abort signals, promises. */
class HostCore {
  #environment;
  #native;
  #hostId;
  #hooks;
  #events;
  #running;
  #tools;

  /** @param {import('./environment.js').Environment} environment */
  constructor(environment, options) {
    const { hostId, native } = environment.createHost(options);
    this.#environment = environment;
    this.#native = native;
    this.#hostId = hostId;
    this.#events = new Events(options);
    const hold = options?.keepAlive === false ? undefined : environment.hold;
    this.#running = new Running(hold, () => environment.unlisten(hostId));
    this.#tools = new ToolCalls(native, environment.calls, {
      started: (handle, relay) => this.#started(handle, relay),
      refused: (argv, error) => this.#events.emit('onRefused', { argv, error }),
    });
  }

  setPolicy(policy) {
    const warnings = unwrap(this.#native.setPolicy(policy, environmentVariables()));
    this.#hooks = hooksOf(policy);
    return warnings;
  }

  policy() {
    const policy = unwrap(this.#native.policy());
    if (policy === null || policy === undefined) return undefined;
    const { approve, allowlist } = this.#hooks;
    return { ...policy, ...(approve && { approve }), ...(allowlist && { allowlist }) };
  }

  registerCommandTools(policy) {
    this.setPolicy(policy);
    this.#native.registerCommandTools();
  }

  registerGitTools(options) {
    unwrap(this.#native.registerGitTools(options, environmentVariables()));
  }

  tools() {
    return this.#tools.list();
  }

  executeTool(name, params, context) {
    return this.#tools.execute(name, params, context, this.#hooks);
  }

  dispose() {
    const disposed = this.call('dispose');
    this.#tools.close();
    return disposed;
  }

  /** A synchronous question. */
  sync(method, ...args) {
    return unwrap(this.#native[method](...args));
  }

  /** An asynchronous one. */
  call(method, ...args) {
    return this.#environment.calls.call(id => this.#native[method](id, ...args));
  }

  async start(argv, givenOptions) {
    const hooks = this.#hooks;
    const { options, signal } = takeSignal(givenOptions);
    const relay = new AbortRelay(signal);
    try {
      let answer = await this.#attempt(relay, id =>
        this.#native.start(id, argv, withPlainEnv(options), environmentVariables(), relay.aborted),
      );
      while (answer.question !== undefined) {
        const reply = await answerTo(answer, hooks, relay);
        const { ticket } = answer;
        answer = await this.#attempt(relay, id => this.#native.answer(id, ticket, reply));
      }
      return answer;
    } catch (error) {
      relay.release();
      this.#events.emit('onRefused', { argv, error });
      throw error;
    }
  }

  /** Waits for a command; an abort ends the wait and leaves the command alone. */
  async wait(taskId, givenOptions) {
    const { options, signal } = takeSignal(givenOptions);
    const relay = new AbortRelay(signal);
    try {
      return await this.#environment.calls.call(id => {
        const answer = this.#native.wait(id, taskId, options);
        relay.means(() => this.#native.cancel(id));
        return answer;
      });
    } finally {
      relay.release();
    }
  }

  async follow(taskId, options) {
    const follower = await this.call('follow', taskId, options);
    return {
      next: () => this.call('followNext', follower),
      close: () => this.#native.followClose(follower),
    };
  }

  #attempt(relay, invoke) {
    return this.#environment.calls.call(
      id => {
        const answer = invoke(id);
        relay.means(() => this.#native.cancel(id));
        return answer;
      },
      answer => {
        if (answer.question === undefined) this.#started(answer, relay);
      },
    );
  }

  #started(handle, relay) {
    this.#environment.listen(this.#hostId, event => this.#settled(event.status));
    this.#running.add(handle.taskId, relay);
    relay.means(() => this.#native.abort(handle.taskId));
    this.#events.emit('onStarted', { ...handle });
  }

  #settled(status) {
    this.#running.remove(status.taskId);
    this.#events.emit('onSettled', status);
  }
}

module.exports = { HostCore };
