// The smoke suite: the public interface in whatever runtime this is run by, and with `--worker` in a thread of it.
import assert from 'node:assert/strict';
import process from 'node:process';
import { isMainThread, Worker } from 'node:worker_threads';
import * as argvault from 'argvault';
import { runCases } from '../lib/cases.mjs';
import { commands } from './commands.mjs';
import { endings } from './ending.mjs';
import { exits } from './exits.mjs';
import { modules } from './modules.mjs';
import { refusals } from './refusals.mjs';
import { toolCases } from './tools.mjs';

const runtime = ['Deno', 'Bun'].find(name => name in globalThis);
const hasAwaitUsing = runtime !== undefined || Number(process.versions.node.split('.')[0]) >= 24;

const disposal = hasAwaitUsing
  ? {
      '`await using` disposes': async context => {
        const { awaitUsing } = await import('./await-using.mjs');
        await awaitUsing(context);
      },
    }
  : {
      '`await using` does not parse yet': async () => {
        await assert.rejects(import('./await-using.mjs'), SyntaxError);
      },
    };

if (isMainThread && process.argv.includes('--worker')) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on('error', error => {
    console.error(error);
    process.exitCode = 1;
  });
  worker.on('exit', code => {
    if (code !== 0) process.exitCode = code;
  });
} else {
  // How a process ends is not a thread's business.
  const cases = { ...modules, ...commands, ...refusals, ...endings, ...toolCases, ...disposal };
  await runCases(argvault, isMainThread ? { ...cases, ...exits } : cases);
}
