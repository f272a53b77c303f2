// A thousand commands that run at once: what they take of the host, what a keeper takes, and how fast they are ended.
import { setTimeout as sleep } from 'node:timers/promises';
import { Samples, timed } from '../lib/measure.mjs';
import { anonymous, descendantsNamed, keepers, openFiles, threads } from '../lib/proc.mjs';
import { withRunners } from '../runners/index.mjs';

export const ceilingMs = 180_000;

const GRACE_MS = 2_000;
const SLEEP = ['sleep', '600'];
/** One process, like the other, that only SIGKILL ends. */
const DEAF_SLEEP = ['env', '--ignore-signal=TERM', ...SLEEP];

export function plan({ quick, tiny }) {
  const count = tiny ? 5 : quick ? 100 : 1_000;
  return ['argvault', 'background'].map(name => ({ name, count }));
}

async function startAll(runner, argv, count) {
  const commands = Array.from({ length: count }, () => runner.start(argv));
  await Promise.all(commands.map(({ started }) => started));
  return commands;
}

export async function run({ name, count }, { places }) {
  const keys = ['started', 'files', 'threads', 'keeper', 'kill', 'killDeaf'];
  const samples = Object.fromEntries(keys.map(key => [key, new Samples()]));

  const work = async ([runner]) => {
    await runner.runTrue();
    const before = { files: openFiles(), threads: threads() };
    const { ms, result: commands } = await timed(() => startAll(runner, SLEEP, count));
    samples.started.add(name, ms);
    samples.files.add(name, (openFiles() - before.files) / count);
    samples.threads.add(name, threads() - before.threads);
    const alive = descendantsNamed(SLEEP[0]).length;
    if (alive < count) throw new Error(`${alive} of ${count} commands run`);
    if (name === 'argvault')
      samples.keeper.add(
        name,
        ...keepers()
          .map(pid => anonymous(pid) / 1024)
          .filter(Number.isFinite),
      );

    samples.kill.add(name, (await timed(() => runner.killAll())).ms);
    await Promise.all(commands.map(({ settled }) => settled));

    const deaf = await startAll(runner, DEAF_SLEEP, count);
    // `env` may still be on its way to ignoring the signal when its start is reported.
    await sleep(500 + count);
    samples.killDeaf.add(name, (await timed(() => runner.killAll())).ms - GRACE_MS);
    await Promise.all(deaf.map(({ settled }) => settled));
  };
  await withRunners([name], places, work, { killGraceMs: GRACE_MS });
  return [
    samples.started.line('running.started', `${count} sleeping commands, until all are started`, 'ms'),
    samples.files.line('running.files', `descriptors in the host for each of ${count} running`, ''),
    samples.threads.line('running.threads', `threads in the host for ${count} running`, ''),
    samples.keeper.line('running.keeper', `Anonymous of one keeper of ${count}`, 'KiB', { worst: true }),
    samples.kill.line('running.kill', `killAll of ${count}`, 'ms'),
    samples.killDeaf.line(
      'running.killDeaf',
      `killAll of ${count} that ignore SIGTERM, beyond the grace`,
      'ms',
    ),
  ];
}
