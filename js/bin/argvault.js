#!/usr/bin/env node
'use strict';

const path = require('node:path');
const { unwrap } = require('../errors.js');
const { loadNative } = require('../native.js');

const USAGE = `usage: argvault doctor [--json]

  doctor   what this machine has of what commands are started, held and confined with
`;

/** One line for a rung, and what follows from it below. */
const shown = ({ name, ok, needed, found, then }) =>
  `${ok ? 'ok     ' : needed ? 'MISSING' : 'missing'}  ${name.padEnd(20)}  ${found}\n${' '.repeat(31)}${then}`;

/** The exit code is 1 when nothing could start here. */
function doctor(json) {
  const { ok: native, error } = loadNative(path.join(__dirname, '..', '..'));
  if (error) {
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  const ladder = unwrap(native.doctor({ ...process.env }));
  process.stdout.write(json ? `${JSON.stringify(ladder, null, 2)}\n` : `${ladder.map(shown).join('\n')}\n`);
  return ladder.every(({ ok, needed }) => ok || !needed) ? 0 : 1;
}

const [command, ...rest] = process.argv.slice(2);
const json = rest.length === 1 && rest[0] === '--json';
if (command === 'doctor' && (rest.length === 0 || json)) {
  process.exitCode = doctor(json);
} else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
