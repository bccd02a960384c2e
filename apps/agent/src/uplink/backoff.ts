const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;

/**
 * How long to wait before connection attempt `failures + 1`: 100 ms doubling up to 5 s, of which a random half
 * is taken off, so that a thousand agents do not come back to a restarted coordinator in the same moment.
 */
export function backoffMs(failures: number, random: () => number): number {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 16), LONGEST_DELAY_MS);
  return delayMs * (0.5 + random() / 2);
}
