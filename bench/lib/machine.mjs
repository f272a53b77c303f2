// What the numbers were measured on, for a reader who wants to repeat them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { inRoot } from './paths.mjs';

function fileSystemOf(dir) {
  const { stdout } = spawnSync('stat', ['-f', '-c', '%T', dir], { encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

export function machine() {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    argvault: JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).version,
    node: process.version,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    cpus: `${os.cpus().length} × ${cpu?.model ?? 'unknown'}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    files: `${fileSystemOf(os.tmpdir())} at ${os.tmpdir()}`,
    // Above zero means that the machine was doing something else, too.
    load: os.loadavg()[0].toFixed(2),
  };
}

export const inWords = ({ date, argvault, node, kernel, cpus, memory, files, load }) =>
  `${date}: argvault ${argvault}, Node ${node}, ${kernel}, ${cpus}, ${memory} of memory, ${files}, load ${load} before the run`;
