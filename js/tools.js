'use strict';

const { AbortRelay, takeSignal } = require('./abort.js');
const { ArgvaultError, unwrap } = require('./errors.js');
const { answerTo } = require('./hooks.js');
const { environmentVariables } = require('./variables.js');

/** The tool that starts what a model names. Git's have the environment that their repository was registered with. */
const STARTS_A_COMMAND = 'run_command_bg';

/** The tools of one native host, with what only JavaScript can do for them: abort signals and hooks. */
class ToolCalls {
  #native;
  #calls;
  #events;
  // By decision: what calls off the question that is open, so that no timer outlives it.
  #open = new Map();

  /**
   * @param {object} native the native host
   * @param {import('./calls.js').Calls} calls
   * @param {{ started(handle: object, relay: AbortRelay): void, refused(argv: unknown, error: Error): void }} events
   */
  constructor(native, calls, events) {
    this.#native = native;
    this.#calls = calls;
    this.#events = events;
  }

  list() {
    return unwrap(this.#native.tools());
  }

  /** @param {ReturnType<typeof import('./hooks.js').hooksOf>} hooks of the policy that is in force now */
  async execute(name, params, givenContext, hooks) {
    const { options: context, signal } = takeSignal(givenContext);
    const relay = new AbortRelay(signal);
    try {
      const env = name === STARTS_A_COMMAND ? environmentVariables() : undefined;
      const answer = await this.#ask(relay, params, id =>
        this.#native.executeTool(id, name, params, context, env, relay.aborted),
      );
      if (answer.question === undefined) return answer.result;
      // The decision goes on when this call doesn't: whoever asks the same again joins it.
      this.#decide(answer, params, hooks).catch(error => this.#events.refused(params?.argv, error));
      const outcome = await this.#ask(relay, params, id => this.#native.toolOutcome(id, answer.decision));
      return outcome.result;
    } finally {
      relay.release();
    }
  }

  #ask(relay, params, invoke) {
    return this.#calls.call(
      id => {
        invoke(id);
        relay.means(() => this.#native.cancel(id));
      },
      answer => this.#tell(answer, params),
    );
  }

  /** Calls off what is undecided: the host starts nothing any more. */
  close() {
    for (const relay of this.#open.values()) relay.fire();
  }

  async #decide(first, params, hooks) {
    const { decision } = first;
    const relay = new AbortRelay();
    this.#open.set(decision, relay);
    try {
      for (let question = first; question.question !== undefined; ) {
        const reply = await answerTo(question, hooks, relay);
        const { ticket } = question;
        question = await this.#calls.call(
          id => this.#native.decideTool(id, decision, ticket, reply),
          answer => this.#tell(answer, params),
        );
      }
    } finally {
      this.#open.delete(decision);
    }
  }

  #tell({ started, refused, withdrawn }, params) {
    // No signal of a tool's call ends a command that runs.
    if (started !== undefined) this.#events.started(started, new AbortRelay());
    if (refused !== undefined) this.#events.refused(params?.argv, new ArgvaultError(refused));
    this.#open.get(withdrawn)?.fire();
  }
}

module.exports = { STARTS_A_COMMAND, ToolCalls };
