// What a cgroup v2 with memory can do, whatever the machine has: the limits of a tree are tested on a kernel of their own, at
// each place where a host may find itself. `npm run test:cgroup -- --kernel FILE`, with the kernel of a distribution's package
// (5.14 or later). Needs qemu, a static busybox, cpio, setpriv and setfattr. The machine is emulated: it takes a minute.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fail, root } from './project.mjs';

const TESTS = ['limits::a_limit_of_memory', 'limits::a_limit_of_processes', 'limits::containment'];
const PROGRAMS = ['sh', 'bash', 'node', 'sleep', 'true', 'cat', 'setpriv', 'setfattr'];
const APPLETS = ['mount', 'mkdir', 'chmod', 'chown', 'poweroff'];
const MACHINES = {
  x64: ['qemu-system-x86_64', 'ttyS0'],
  arm64: ['qemu-system-aarch64', 'ttyAMA0', '-M', 'virt', '-cpu', 'max'],
};

const USER = '/bin/setpriv --reuid=1000 --regid=1000 --clear-groups';

/** The first process. `$C/unit` is as a service manager hands a unit over whose processes it puts below it. */
const init = suite => `#!/bin/busybox sh
export PATH=/bin ARGVAULT_EXPECT_CONTAINMENT=cgroup
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir /dev/shm; chmod 1777 /tmp /dev/shm
C=/sys/fs/cgroup; mount -t cgroup2 none $C
at() {
  echo "place: $1"; export ARGVAULT_EXPECT_MEMORY_CONTROLLER=$2; shift 2
  "$@" ${suite} --test-threads 1 ${TESTS.join(' ')} && echo 'place: passed'
}
at "the machine's root" 1 /bin/busybox env
echo '+memory +pids' > $C/cgroup.subtree_control
mkdir -p $C/unit/host; chown -R 1000 $C/unit
echo $$ > $C/unit/host/cgroup.procs
at "a user's unit" 1 ${USER}
mkdir -p $C/unit/slice/service; chown -R 1000 $C/unit/slice; echo +memory > $C/unit/cgroup.subtree_control
echo $$ > $C/unit/slice/service/cgroup.procs
at "a service of a user's own manager" 0 ${USER}
echo $$ > $C/unit/host/cgroup.procs
at "root below a unit that nobody was given" 0 /bin/busybox env
/bin/setfattr -n trusted.delegate -v 1 $C/unit
at "root below a unit that it was given" 1 /bin/busybox env
poweroff -f
`;

/** The test's binary and the warden that it was built with. */
function built() {
  const cargo = [
    'test',
    '--locked',
    '--no-default-features',
    '--test',
    'process_tree',
    '--no-run',
    '--message-format=json',
  ];
  const lines = execFileSync('cargo', cargo, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const artifacts = lines
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  return ['process_tree', 'argvault-warden'].map(
    name => artifacts.find(({ target, executable }) => target?.name === name && executable).executable,
  );
}

function find(name) {
  const found = process.env.PATH.split(':')
    .map(dir => path.join(dir, name))
    .find(existsSync);
  return found ?? fail(`\`${name}\` was not found.`);
}

/** Puts files where they are here, or elsewhere, with the libraries that they load. */
function put(system, from, to = from) {
  const target = path.join(system, to);
  if (existsSync(target)) return;
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(from, target);
  const { stdout } = spawnSync('ldd', [from], { encoding: 'utf8' });
  for (const [library] of stdout.matchAll(/\/\S+\.so\S*/g)) put(system, library);
}

const { values } = parseArgs({ options: { kernel: { type: 'string' } } });
if (!values.kernel) fail('--kernel names the kernel to boot, such as /boot/vmlinuz-6.1.0-48-cloud-amd64.');
const [qemu, console_, ...board] = MACHINES[process.arch];
const [suite, warden] = built();
const work = mkdtempSync(path.join(tmpdir(), 'argvault-cgroup-'));
try {
  const system = path.join(work, 'root');
  for (const dir of ['bin', 'dev', 'proc', 'sys', 'tmp'])
    mkdirSync(path.join(system, dir), { recursive: true });
  for (const name of ['busybox', ...PROGRAMS]) put(system, find(name), `/bin/${name}`);
  for (const name of APPLETS) symlinkSync('busybox', path.join(system, 'bin', name));
  for (const file of [suite, warden]) {
    put(system, file);
    execFileSync('strip', [path.join(system, file)]);
  }
  writeFileSync(path.join(system, 'init'), init(suite), { mode: 0o755 });
  const image = path.join(work, 'image');
  execFileSync('sh', ['-c', 'find . | cpio -o -H newc --quiet > "$0"', image], { cwd: system });
  const options = [
    '-m',
    '3G',
    '-smp',
    '2',
    '-nographic',
    '-no-reboot',
    '-kernel',
    values.kernel,
    '-initrd',
    image,
  ];
  const append = `console=${console_} quiet loglevel=0 panic=-1`;
  const run = spawnSync(qemu, [...board, ...options, '-append', append], {
    encoding: 'utf8',
    timeout: 600_000,
  });
  console.log(run.stdout ?? run.error);
  const passed = run.stdout?.match(/^place: passed\r?$/gm)?.length ?? 0;
  if (passed !== 5) fail(`${passed} of 5 places passed.`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
