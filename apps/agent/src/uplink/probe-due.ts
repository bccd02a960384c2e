/** In µs of one clock. */
export interface ProbeSigns {
  /** When anything was last heard of the coordinator. */
  readonly heardAtUs: number;
  /** When the newest probe left. */
  readonly probedAtUs: number;
}

/** Longer than an interval: a coordinator that acknowledges each of them has given its sign of life. */
const QUIET_US = 1_200_000;
/** In this time two clocks drift apart by some 0.3 ms. */
const MAX_AGE_US = 6_000_000;

/**
 * Whether the coordinator is to be asked for its time, which is a question for a sign of life too. One that
 * acknowledges frames every second is asked for the sake of the clock alone, and that rarely: with thousands of
 * agents these questions cost it as much as their frames. Pure.
 */
export function isProbeDue(nowUs: number, { heardAtUs, probedAtUs }: ProbeSigns): boolean {
  return nowUs - heardAtUs > QUIET_US || nowUs - probedAtUs >= MAX_AGE_US;
}
