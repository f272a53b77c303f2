'use strict';

// Stands where the addon would, for what only JavaScript does. Like the native port, it answers in a later turn and
// never holds the event loop.

const handles = { start: () => ({ taskId: 'task-1', argv: ['x'], startedAt: 1 }) };

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
      fake.hosts.push(this);
    }
  }

  const soon = (port, message) => setTimeout(() => port.deliver([message]), 2).unref();
  const record = (method, args) => fake.calls.push({ method, args });

  for (const method of [
    'setPolicy',
    'policy',
    'status',
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
      return (
        behaviour[method]?.call(this, ...args) ?? {
          ok: method === 'setPolicy' ? { warnings: [] } : undefined,
        }
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
      if (value === fake.later) return {};
      if (value?.immediate) return { error: value.immediate };
      soon(this.port, value?.wire ? { id, ok: false, value: value.wire } : { id, ok: true, value });
      return {};
    };
  }

  /** Returned by a behaviour that will `reply` by itself. */
  fake.later = Symbol('later');
  /** A behaviour that only notes the id of its call. */
  fake.owe = (...args) => {
    fake.id = args.at(-1);
    return fake.later;
  };
  fake.reply = (id, value, ok = true) => fake.ports.at(-1).deliver([{ id, ok, value }]);
  fake.settle = (taskId, more, host = fake.hosts.at(-1)) =>
    host.port.deliver([
      { id: 0, ok: true, value: { host: host.hostId, type: 'settled', status: { taskId, ...more } } },
    ]);
  fake.of = method => fake.calls.filter(call => call.method === method).map(call => call.args);
  fake.binding = {
    Port,
    Host,
    checkHostOptions: options => behaviour.create?.(options) ?? { ok: null },
    isSupported: () => ({ ok: true }),
    version: () => '0.1.0',
  };
  fake.load = () => ({ ok: fake.binding });
  return fake;
}

const wire = (code, message = code) => ({ code, message, hint: 'hint', details: { about: 'test' } });

module.exports = { fakeBinding, wire };
