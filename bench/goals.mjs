// What argvault is to reach, as ratios within one run, so that they hold on noisy machines too. `of` are the lines that
// a goal is about (the first is where the table shows it); `value` gets a function from line and entrant to the median.

const atMost = bound => ({ text: `≤ ${bound}`, met: value => value <= bound });
const atLeast = bound => ({ text: `≥ ${bound}`, met: value => value >= bound });

/** How many times the other takes what argvault takes. */
const timesLess = (line, other) => m => m(line, other) / m(line, 'argvault');
/** How many times argvault takes what the other takes. */
const times = (line, other) => m => m(line, 'argvault') / m(line, other);
const itself = line => m => m(line, 'argvault');
const between = (line, other) => m => m(line, 'argvault') / m(other, 'argvault');

const goal = (of, bound, unit, value) => ({ of, bound, unit, value });

export const goals = [
  goal(['hold.1024'], atMost(0.3), 'ms', itself('hold.1024')),
  goal(['hold.1024'], atLeast(150), '× less than child_process', timesLess('hold.1024', 'child_process')),
  goal(['true.50'], atMost(1.5), '× limit', times('true.50', 'limit')),
  goal(['true.50'], atLeast(2.5), '× as fast as the JS runner', timesLess('true.50', 'background')),
  goal(['true.1024'], atLeast(25), '× as fast as the JS runner', timesLess('true.1024', 'background')),
  goal(['true.1024', 'true.50'], atMost(1.3), '× the small host', between('true.1024', 'true.50')),
  goal(['many'], atMost(1.7), '× limit', times('many', 'limit')),
  goal(['many'], atLeast(3), '× as fast as the JS runner', timesLess('many', 'background')),
  ...['zeros', 'text'].flatMap(kind => {
    const line = `capture.${kind}`;
    return [
      goal([line], atMost(1.15), '× limit', times(line, 'limit')),
      goal([line], atLeast(3), '× as fast as the JS runner', timesLess(line, 'background')),
      goal([`${line}.cpu`], atMost(0.02), "× the JS runner's", times(`${line}.cpu`, 'background')),
    ];
  }),
  goal(
    ['settle.large', 'settle.small'],
    atMost(1.5),
    '× after the small',
    between('settle.large', 'settle.small'),
  ),
  goal(['page.deep', 'page.start'], atMost(2), '× at the start', between('page.deep', 'page.start')),
  goal(['page.deep'], atMost(1), 'ms', itself('page.deep')),
  goal(['search'], atMost(1.5), '× limit', times('search', 'limit')),
  goal(['settled.memory'], atMost(5), 'MB', itself('settled.memory')),
  goal(['settled.files'], atMost(0), 'descriptors', itself('settled.files')),
  goal(['running.files'], atMost(2), 'descriptors', itself('running.files')),
  // Pools may grow by a few, once; a thread for each command would be hundreds.
  goal(['running.threads'], atMost(16), 'threads', itself('running.threads')),
  goal(['running.keeper'], atMost(200), 'KiB', itself('running.keeper')),
  goal(['running.kill'], atMost(2_000), 'ms', itself('running.kill')),
  goal(['running.killDeaf'], atMost(2_000), 'ms beyond the grace', itself('running.killDeaf')),
  goal(['import.loaded'], atMost(15), 'ms', itself('import.loaded')),
  goal(['size'], atMost(3), 'MB', itself('size')),
];

/**
 * Each goal with what was measured: `met` is true, false, or undefined where this run has no measurement.
 * @param {(line: string, entrant: string) => number | undefined} medianOf
 */
export function judge(medianOf) {
  return goals.map(({ of, bound, unit, value }) => {
    const measured = value((line, entrant) => medianOf(line, entrant) ?? Number.NaN);
    const met = Number.isFinite(measured) ? bound.met(measured) : undefined;
    return { of, goal: `${bound.text} ${unit}`, measured: met === undefined ? undefined : measured, met };
  });
}
