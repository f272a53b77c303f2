// Random trees, ended at random: `npm run torture -- --seed N --minutes M`. Without a seed each run has its own, which
// is printed when something breaks; `--runs` repeats with the seeds that follow.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { fail, root } from './project.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string' }, runs: { type: 'string' } },
});
const number = (name, least, otherwise) => {
  if (values[name] === undefined) return otherwise;
  const value = Number(values[name]);
  if (!(value >= least)) fail(`--${name} must be a number of at least ${least}, not "${values[name]}".`);
  return value;
};
const first = number('seed', 0, Math.floor(Math.random() * 1e6));
const seconds = Math.ceil(number('minutes', 0.05, 1) * 60);

for (let seed = first; seed < first + number('runs', 1, 1); seed += 1) {
  console.log(`torture --seed ${seed} --minutes ${seconds / 60}`);
  const args = ['test', '--locked', '--no-default-features', '--test', 'torture', '--', '--nocapture'];
  const env = {
    ...process.env,
    ARGVAULT_TORTURE_SEED: String(seed),
    ARGVAULT_TORTURE_SECONDS: String(seconds),
  };
  const { status } = spawnSync('cargo', args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) fail(`broken: npm run torture -- --seed ${seed} --minutes ${seconds / 60}`);
}
