import { test } from 'node:test';
import * as argvault from 'argvault';
import shared from '../cases.cjs';

for (const [title, run] of Object.entries(shared.cases(argvault))) test(title, run);
