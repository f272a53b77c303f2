// Puts results into docs/performance.md, between the markers of their section.
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from './paths.mjs';

const file = inRoot('docs', 'performance.md');

export function writeSection(section, text) {
  const [begin, end] = [`<!-- ${section}: begin -->`, `<!-- ${section}: end -->`];
  const document = readFileSync(file, 'utf8');
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`docs/performance.md has no section between ${begin} and ${end}`);
  const changed = `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
  writeFileSync(file, changed);
}
