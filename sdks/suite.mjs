import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, furtherCases, killCases } from './cases.mjs';
import { openPlace } from './place.mjs';

async function openDriver(t, driver, { options, ...given } = {}) {
  const place = await openPlace(t);
  const opened = await driver.open({ ...place, ...given, options });
  t.after(() => opened.close?.());
  return { ...place, ...opened, driver };
}

/** Drives one adapter through all cases. */
export function suite(driver) {
  for (const [name, run] of Object.entries({ ...cases, ...furtherCases })) {
    test(`${driver.name}: ${name}`, async t => run(await openDriver(t, driver)));
  }
  for (const [name, run] of Object.entries(killCases)) {
    test(`${driver.name}, killOnAbort: ${name}`, async t =>
      run(await openDriver(t, driver, { options: { killOnAbort: true } })));
  }
  test(`${driver.name}: a call is its session's, where the SDK has one, else the host's; nothing else crosses`, async t => {
    for (const sessionId of ['thread-1', undefined]) {
      const opened = await openDriver(t, driver, { sessionId });
      await opened.call('git_log', {}, { sessionId });
      const { context } = opened.source.calls.at(-1);
      assert.equal(context.sessionId, driver.hasSessions ? sessionId : undefined);
      const others = Object.keys(context).filter(key => !['sessionId', 'abortSignal'].includes(key));
      assert.deepEqual(others, []);
    }
  });
}
