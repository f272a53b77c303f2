import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = file => readFileSync(new URL(file, import.meta.url), 'utf8');

test("the lines of the README's table are lines that compile against the SDKs", () => {
  const compiled = ['types/readme.mts', 'neurolink/consumer.mts'].map(read).join('\n');
  const [, table] = read('../README.md').match(/<table>(.*?)<\/table>/s);
  const blocks = [...table.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block.trim().split('\n'));
  assert.equal(blocks.length, 7);
  for (const lines of blocks) {
    assert.equal(lines.length, 3);
    for (const line of lines) {
      const [code] = line.split(' // ');
      const dynamic = code.replace(/^import (.*) from ('argvault.*');$/, 'const $1 = await import($2);');
      assert.ok(compiled.includes(code) || compiled.includes(dynamic), code);
    }
  }
});
