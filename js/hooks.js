'use strict';

const { setTimeout, clearTimeout } = require('node:timers');
const { LONGEST_DELAY_MS } = require('./hold.js');

/** The hooks of a policy as they are now: what is set on the object later changes nothing. */
function hooksOf(policy) {
  const own = name => (Object.hasOwn(policy, name) ? policy[name] : undefined);
  return { policy, approve: own('approve'), allowlist: own('allowlist') };
}

function frozen(value) {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

function ask(hooks, { question, request }) {
  return question === 'approve'
    ? hooks.approve.call(hooks.policy, frozen(request))
    : hooks.allowlist.call(hooks.policy, [...request.argv], request.cwd);
}

function thrown(error) {
  return { thrown: error instanceof Error ? error.message : String(error) };
}

/** Calls `done` after `ms`, also beyond the longest delay that one timer takes. Answers how to call it off. */
function after(ms, done) {
  let timer;
  const wait = left => {
    const step = Math.min(left, LONGEST_DELAY_MS);
    timer = setTimeout(() => (left > step ? wait(left - step) : done()), step);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

/**
 * Asks the host's hook one question and brings back its word unjudged, or that none came in time, or that the
 * caller has given up.
 * @returns {Promise<{ value: unknown } | { thrown: string } | { timedOut: true } | { aborted: true }>}
 */
function answerTo(question, hooks, relay) {
  return new Promise(resolve => {
    const callOff = after(question.timeoutMs, () => resolve({ timedOut: true }));
    const reply = word => {
      callOff();
      resolve(word);
    };
    relay.means(() => reply({ aborted: true }));
    if (relay.aborted) return;
    new Promise(told => told(ask(hooks, question))).then(
      value => reply({ value }),
      error => reply(thrown(error)),
    );
  });
}

module.exports = { hooksOf, answerTo };
