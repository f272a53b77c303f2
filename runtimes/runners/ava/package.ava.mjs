import * as argvault from 'argvault';
import test from 'ava';
import shared from '../cases.cjs';

// One after another: what is set in `process.env` is seen by all of them.
for (const [title, run] of Object.entries(shared.cases(argvault))) {
  test.serial(title, async t => {
    await run();
    t.pass();
  });
}
