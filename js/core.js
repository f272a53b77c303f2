'use strict';

const { AbortRelay, takeKillOnAbort, takeSignal } = require('./abort.js');
const { unwrap } = require('./errors.js');
const { Events } = require('./events.js');
const { answerTo, hooksOf } = require('./hooks.js');
const { Running } = require('./running.js');
const { STARTS_A_COMMAND, ToolCalls } = require('./tools.js');
const { environmentVariables } = require('./variables.js');

/** What a start may get of the host's environment: its own `env` replaces all of it. */
const inherited = options => (options?.env === undefined ? environmentVariables() : undefined);

/** `process.env` itself, which is no plain object in Node, becomes the copy that is meant. */
const withPlainEnv = options =>
  options?.env === process.env ? { ...options, env: { ...process.env } } : options;

/** One native host with what only JavaScript can do for it: hooks, listeners, abort signals, promises. */
class HostCore {
  #environment;
  #native;
  #hostId;
  #hooks;
  #events;
  #running;
  #tools;
  /** The calls whose hook is being asked. */
  #asking = new Set();
  #disposed = false;

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

  async executeTool(name, params, givenContext) {
    const { context, killOnAbort } = takeKillOnAbort(givenContext);
    const result = await this.#tools.execute(name, params, context, this.#hooks);
    if (killOnAbort) this.#killOnAbort(takeSignal(context).signal, name, result.taskId);
    return result;
  }

  dispose() {
    const disposed = this.call('dispose');
    this.#disposed = true;
    this.#tools.close();
    for (const relay of this.#asking) relay.fire();
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
        this.#native.start(id, argv, withPlainEnv(options), inherited(options), relay.aborted),
      );
      while (answer.question !== undefined) {
        const reply = await this.#word(answer, hooks, relay);
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

  /** The hook's word. None is waited for once the host is disposed of: the native side then says so. */
  async #word(question, hooks, relay) {
    if (this.#disposed) return { aborted: true };
    this.#asking.add(relay);
    try {
      return await answerTo(question, hooks, relay);
    } finally {
      this.#asking.delete(relay);
    }
  }

  /** Waits for a command; an abort ends the wait and leaves the command alone. */
  async wait(taskId, givenOptions) {
    const { options, signal } = takeSignal(givenOptions);
    const relay = new AbortRelay(signal);
    try {
      return await this.#environment.calls.call(id => {
        this.#native.wait(id, taskId, options);
        relay.means(() => this.#native.cancel(id));
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

  /** `taskId` is of the call's result: a refused call has none, and so never reaches another session's command. */
  #killOnAbort(signal, name, taskId) {
    if (signal === undefined || taskId === undefined) return;
    // Whoever only looks at a command doesn't answer for it once the look is over.
    if (name !== STARTS_A_COMMAND && !signal.aborted) return;
    const relay = new AbortRelay(signal);
    this.#running.follow(taskId, relay);
    relay.means(() => this.#native.abort(taskId));
  }

  #attempt(relay, invoke) {
    return this.#environment.calls.call(
      id => {
        invoke(id);
        relay.means(() => this.#native.cancel(id));
      },
      answer => {
        if (answer.question === undefined) this.#started(answer, relay);
      },
    );
  }

  #started(handle, relay) {
    this.#environment.listen(this.#hostId, event => this.#settled(event));
    this.#running.add(handle.taskId, relay);
    relay.means(() => this.#native.abort(handle.taskId));
    this.#events.emit('onStarted', { ...handle });
  }

  #settled({ taskId, status: told }) {
    this.#running.remove(taskId);
    const wanted = this.#events.isHeard('onSettled');
    const status = told ?? unwrap(this.#native.settled(taskId, wanted));
    if (wanted && status !== null) this.#events.emit('onSettled', status);
  }
}

module.exports = { HostCore };
