// From samples to a table: ratios first, then the medians of everybody, the limit beside; under each line its goals.
import { judge } from '../goals.mjs';
import { everybody } from '../runners/index.mjs';
import { median } from './measure.mjs';

/** Three digits, which is more than a busy machine repeats. */
export function digits(value) {
  if (value === undefined || !Number.isFinite(value)) return '';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(value === 0 ? 1 : 3)));
}

const withUnit = (value, unit) => (value === undefined ? '' : `${digits(value)} ${unit}`.trim());

// A ratio to (almost) nothing says nothing.
const ratio = (a, b) => (a > 0 && b > 0 ? a / b : undefined);

function summarize({ values, ...line }) {
  const summary = {};
  for (const [name, samples] of Object.entries(values)) {
    if (samples.length === 0) continue;
    const [min, max] = [Math.min(...samples), Math.max(...samples)];
    summary[name] = { median: median(samples), min, max, rounds: samples.length, samples };
  }
  return { ...line, values: summary };
}

const isEmpty = ({ values, note }) => Object.keys(values).length === 0 && note === undefined;

/** Everything about a run that is printed or written. */
export function report(lines) {
  const all = [...lines.values()].map(summarize).filter(line => !isEmpty(line));
  const medianOf = (id, name) => all.find(line => line.id === id)?.values[name]?.median;
  return { lines: all, goals: judge(medianOf) };
}

const verdict = met => (met === undefined ? 'not measured' : met ? 'met' : 'NOT MET');

/** What can be said of a line in words: its spread where one bad case counts, and its own remark. */
function remarks({ values, worst, unit, note }) {
  const shown = worst ? ['argvault', 'background', 'child_process'].filter(name => values[name]) : [];
  const spread = shown.map(name => `${name} ${digits(values[name].min)}…${withUnit(values[name].max, unit)}`);
  return [spread.length > 0 ? `from…to: ${spread.join(', ')}` : '', note ?? ''].filter(Boolean);
}

const others = everybody.filter(name => name !== 'argvault');
const header = [
  '',
  '× limit',
  'JS runner ×',
  'argvault',
  'limit',
  ...others.map(n => (n === 'background' ? 'JS runner' : n)),
];

function cells({ title, unit, values }) {
  const of = name => values[name]?.median;
  return [
    title,
    digits(ratio(of('argvault'), of('limit'))),
    digits(ratio(of('background'), of('argvault'))),
    ...['argvault', 'limit', ...others].map(name => withUnit(of(name), unit)),
  ];
}

const goalWords = ({ goal, measured, met }) =>
  measured === undefined ? `${goal}: ${verdict(met)}` : `${goal}: ${digits(measured)}, ${verdict(met)}`;

const goalsOf = (goals, line) => goals.filter(({ of }) => of[0] === line.id);

/** For a terminal: columns as wide as they have to be, goals and remarks under their line. */
export function terminalTable({ lines, goals }) {
  const rows = [header, ...lines.map(cells)];
  const widths = header.map((_, column) => Math.max(...rows.map(row => row[column].length)));
  const text = row =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ')
      .trimEnd();
  const below = line => [
    ...goalsOf(goals, line).map(each => `    goal ${goalWords(each)}`),
    ...remarks(line).map(each => `    ${each}`),
  ];
  return [text(header), ...lines.flatMap(line => [text(cells(line)), ...below(line)])].join('\n');
}

const markdownRow = row => `| ${row.join(' | ')} |`;

/** For the documentation: the goals, then the lines. */
export function markdownTables({ lines, goals }) {
  const titles = new Map(lines.map(({ id, title }) => [id, title]));
  // A run may be of a few scenarios only.
  const goalRows = goals
    .filter(({ of }) => titles.has(of[0]))
    .map(({ of, goal, measured, met }) => [titles.get(of[0]), goal, digits(measured), verdict(met)]);
  const notes = lines.flatMap(line => remarks(line).map(each => `- ${line.title}: ${each}`));
  return [
    markdownRow(['what', 'goal', 'measured', '']),
    markdownRow(['---', '---', '---:', '---']),
    ...goalRows.map(markdownRow),
    '',
    markdownRow(['median', ...header.slice(1)]),
    markdownRow(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...lines.map(line => markdownRow(cells(line))),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}
