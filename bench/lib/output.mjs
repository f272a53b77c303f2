// Commands that write a known amount.
const MIB = 2 ** 20;

/** Zeros: as fast as a program can write. */
export const zeros = bytes => ['head', '-c', String(bytes), '/dev/zero'];

/** The numbers from 1 on, a line each: text of `bytes` or a little less. */
export function numbers(bytes) {
  let last = 0;
  let room = bytes;
  for (let digits = 1; ; digits += 1) {
    const lines = 9 * 10 ** (digits - 1);
    const fit = Math.min(lines, Math.floor(room / (digits + 1)));
    last += fit;
    room -= fit * (digits + 1);
    if (fit < lines) return { argv: ['seq', String(last)], bytes: bytes - room };
  }
}

const LOG_LINE = '2026-01-01T00:00:00Z build step 42 compiled module foo::bar in 12 ms';

/** Lines as builds write them, `bytes` or a little less, and behind them one line with a needle. */
export function logWithNeedle(bytes) {
  const lines = Math.floor(bytes / (LOG_LINE.length + 1));
  const script = 'yes "$1" | head -c "$2"; echo "step 43 found the needle"';
  const size = lines * (LOG_LINE.length + 1);
  return { argv: ['bash', '-c', script, 'bash', LOG_LINE, String(size)], needle: 'needle', line: lines + 1 };
}

/** Writes zeros, then says on stderr when it was done, in seconds since the epoch; bash has the clock built in. */
export const zerosThenTime = bytes => [
  'bash',
  '-c',
  'head -c "$1" /dev/zero; printf %s "$EPOCHREALTIME" >&2',
  'bash',
  String(bytes),
];

export const sizeName = bytes =>
  bytes >= 1024 * MIB ? `${bytes / 1024 / MIB} GiB` : `${Math.round(bytes / MIB)} MiB`;
