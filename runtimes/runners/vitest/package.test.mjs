import * as argvault from 'argvault';
import { test, vi } from 'vitest';
import shared from '../cases.cjs';

for (const [title, run] of Object.entries(shared.cases(argvault))) test(title, run);

// Fake timers stand still: what holds the event loop and ends waits must not be made of them.
test('fake timers change nothing', async () => {
  vi.useFakeTimers();
  try {
    await shared.cases(argvault)['results are plain values of this realm']();
  } finally {
    vi.useRealTimers();
  }
});
