const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/**
 * Longest wait after the join token was refused. Nothing but a person mends that, and each attempt counts as a wrong
 * token at the coordinator, which after some of them keeps out others at the same address.
 */
const LONGEST_REFUSED_DELAY_MS = 60_000;

/**
 * How long to wait before connection attempt `failures + 1`: 100 ms doubling up to 5 s, of which a random half
 * is taken off, so that a thousand agents do not come back to a restarted coordinator in the same moment.
 */
export function backoffMs(failures: number, random: () => number): number {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 16), LONGEST_DELAY_MS);
  return delayMs * (0.5 + random() / 2);
}

/** How long to wait after the join token was refused: about a minute, of which a random quarter is taken off. */
export function refusedDelayMs(random: () => number): number {
  return LONGEST_REFUSED_DELAY_MS * (0.75 + random() / 4);
}
