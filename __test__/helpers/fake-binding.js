'use strict';

// Stands where the addon would, for what only JavaScript does. Like the native port, it answers in a later turn and
// never holds the event loop.

/** As text, like the native side's; `undefined` is what JSON has no word for. */
const json = value => JSON.stringify(value ?? null);
const outcome = ({ ok, error }) =>
  error === undefined ? { ok: true, json: json(ok) } : { ok: false, json: json(error) };
/** Bytes and long text cross as they are. */
const message = (id, value, ok = true) =>
  typeof value === 'string' || Buffer.isBuffer(value)
    ? { id, ok, json: false, value }
    : { id, ok, json: true, value: json(value) };

const handles = {
  start: () => ({ taskId: 'task-1', argv: ['x'], startedAt: 1 }),
  settled: (taskId, wanted) => ({ ok: wanted ? { taskId } : null }),
};

function fakeBinding(given = {}) {
  const behaviour = { ...handles, ...given };
  const fake = { calls: [], ports: [], hosts: [] };

  class Port {
    constructor(deliver) {
      fake.ports.push(this);
      this.deliver = deliver;
    }
  }

  class Host {
    constructor(port, hostId, options, env) {
      fake.calls.push({ method: 'create', args: [options, env] });
      this.port = port;
      this.hostId = hostId;
      this.hasOnSettled = options?.onSettled !== undefined;
      fake.hosts.push(this);
    }
  }

  const soon = (port, message) => setTimeout(() => port.deliver([message]), 2).unref();
  const record = (method, args) => fake.calls.push({ method, args });

  for (const method of [
    'setPolicy',
    'policy',
    'status',
    'settled',
    'counts',
    'abort',
    'cancel',
    'followClose',
    'tools',
    'setToolContext',
    'registerCommandTools',
  ]) {
    Host.prototype[method] = function (...args) {
      record(method, args);
      return outcome(
        behaviour[method]?.call(this, ...args) ?? { ok: method === 'setPolicy' ? { warnings: [] } : null },
      );
    };
  }

  const asynchronous = [
    'start',
    'answer',
    'wait',
    'kill',
    'killAll',
    'readOutput',
    'readArtifact',
    'cleanup',
    'list',
  ];
  asynchronous.push('readArtifactBytes', 'bankArtifact', 'search', 'dispose', 'follow', 'followNext');
  asynchronous.push('executeTool', 'decideTool', 'toolOutcome');
  for (const method of asynchronous) {
    Host.prototype[method] = function (id, ...args) {
      record(method, args);
      const value = behaviour[method]?.call(this, ...args, id);
      if (value === fake.later) return;
      soon(this.port, value?.wire ? message(id, value.wire, false) : message(id, value));
    };
  }

  /** Returned by a behaviour that will `reply` by itself. */
  fake.later = Symbol('later');
  /** A behaviour that only notes the id of its call. */
  fake.owe = (...args) => {
    fake.id = args.at(-1);
    return fake.later;
  };
  fake.reply = (id, value, ok = true) => fake.ports.at(-1).deliver([message(id, value, ok)]);
  fake.settled = (taskId, host = fake.hosts.at(-1)) =>
    message(0, {
      host: host.hostId,
      type: 'settled',
      taskId,
      ...(host.hasOnSettled && { status: { taskId } }),
    });
  fake.settle = (taskId, host) => (host ?? fake.hosts.at(-1)).port.deliver([fake.settled(taskId, host)]);
  fake.of = method => fake.calls.filter(call => call.method === method).map(call => call.args);
  fake.binding = {
    Port,
    Host,
    checkHostOptions: options => outcome(behaviour.create?.(options) ?? { ok: null }),
    isSupported: () => outcome({ ok: { ok: true } }),
    version: () => '0.1.0',
  };
  fake.load = () => ({ ok: fake.binding });
  return fake;
}

const wire = (code, message = code) => ({ code, message, hint: 'hint', details: { about: 'test' } });

module.exports = { fakeBinding, message, wire };
