// Memory errors that no test sees, in the code that has `unsafe` or runs beside it: suites of whole processes under
// AddressSanitizer, and under Miri the units that ask the kernel for nothing that Miri lacks. `npm run sanitize`, or with
// `asan` or `miri` only that. Needs rustup's nightly, with the components miri and rust-src.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fail, inRoot, run } from './project.mjs';

const target = inRoot('target', 'sanitize');
const nextest = ['+nightly', 'nextest', 'run', '--locked', '--no-default-features', '--no-fail-fast'];
// What measures memory measures the sanitizer's; a build within a test takes these flags too, and hasn't this toolchain.
const NOT_MEANT = 'not test(/the_host_does_not_grow|cargo_builds_and_tests/)';
const SUITES = ['process_tree', 'start', 'vault', 'confinement', 'confinement_kernel', 'torture'];

/**
 * A warden has neither the environment nor the standard error of its host: where to write is linked into it. Leaks are left
 * out, since a process that is about to exec or exit leaves its memory to the kernel on purpose.
 */
function addressSanitizer() {
  const reports = inRoot('target', 'sanitize', 'reports');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  chmodSync(reports, 0o1777); // some tests run a host as another user
  const source = inRoot('target', 'sanitize', 'options.c');
  const object = source.replace(/c$/, 'o');
  const options = `log_path=${reports}/asan:detect_leaks=0`;
  writeFileSync(source, `const char *__asan_default_options(void) { return "${options}"; }\n`);
  run('cc', ['-c', source, '-o', object]);
  const env = {
    ...process.env,
    CARGO_TARGET_DIR: target,
    RUSTFLAGS: `-Zsanitizer=address -Cdebuginfo=1 -Clink-arg=${object}`,
    ARGVAULT_TORTURE_SECONDS: process.env.ARGVAULT_TORTURE_SECONDS ?? '60',
  };
  const suites = SUITES.flatMap(suite => ['--test', suite]);
  // With a target of its own, flags for the code under test don't reach build scripts and macros.
  const host = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  run('cargo', [...nextest, '--target', host, ...suites, '-E', NOT_MEANT], { env });
  // What is no error is a warning about the stack of a child that ends before it has exec'd.
  const all = readdirSync(reports).map(name => readFileSync(`${reports}/${name}`, 'utf8'));
  const found = all.filter(report => report.includes('ERROR: AddressSanitizer'));
  for (const report of found) console.error(report);
  if (found.length > 0) fail(`AddressSanitizer wrote ${found.length} reports.`);
}

/** What the warden and its keepers do, but for the units that make a call which Miri lacks (`unsupported operation`). */
function miri() {
  const lacking = /a_drain_takes|a_cgroup_above|lost::|spare::tests::(a_command|one_that)|tree::/;
  const units = `test(/^warden::/) & not test(${lacking})`;
  const env = { ...process.env, CARGO_TARGET_DIR: target, MIRIFLAGS: '-Zmiri-disable-isolation' };
  const [nightly, ...rest] = nextest;
  run('cargo', [nightly, 'miri', ...rest, '--lib', '-E', units], { env });
}

const suites = { asan: addressSanitizer, miri };
const wanted = process.argv.slice(2);
const unknown = wanted.find(name => suites[name] === undefined);
if (unknown) fail(`there is no "${unknown}"; there are ${Object.keys(suites).join(' and ')}.`);
for (const name of wanted.length > 0 ? wanted : Object.keys(suites)) suites[name]();
