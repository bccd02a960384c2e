/**
 * What a paced load must measure on a target that freezes, from the schedule alone.
 *
 *   planned ──► a connection is free ──► the target is not frozen ──► delay ──► reply, when it is not frozen
 *      └──────────────────────────── corrected ────────────────────────────────────┘
 *                        └──────────────────── raw ────────────────────────────────┘
 */

/** Times in which the target does nothing, in rising order, in µs after the first planned time. */
export interface Freeze {
  readonly beginUs: number;
  readonly endUs: number;
}

export interface FrozenSchedule {
  readonly requests: number;
  readonly ratePerS: number;
  readonly connections: number;
  /** The target's own time for a request. */
  readonly delayUs: number;
  readonly freezes: readonly Freeze[];
}

export interface ExpectedLatency {
  /** Of each request in the order of the schedule, in µs. */
  readonly correctedUs: Float64Array;
  readonly rawUs: Float64Array;
}

/** Requests are sent in order, at their planned time or when a connection is free; one at a time on each. */
export function expectedLatency(schedule: FrozenSchedule): ExpectedLatency {
  const { requests, ratePerS, connections, delayUs, freezes } = schedule;
  const correctedUs = new Float64Array(requests);
  const rawUs = new Float64Array(requests);
  // When each connection is free again; requests take them in turn, which is the order in which they become free.
  const freeUs = new Float64Array(connections);
  for (let i = 0; i < requests; i++) {
    const plannedUs = (i * 1e6) / ratePerS;
    const sentUs = Math.max(plannedUs, freeUs[i % connections] ?? 0);
    const repliedUs = thawedUs(thawedUs(sentUs, freezes) + delayUs, freezes);
    freeUs[i % connections] = repliedUs;
    correctedUs[i] = repliedUs - plannedUs;
    rawUs[i] = repliedUs - sentUs;
  }
  return { correctedUs, rawUs };
}

/** The instant itself, or the end of the freeze that it falls into. */
function thawedUs(atUs: number, freezes: readonly Freeze[]): number {
  return freezes.find(({ beginUs, endUs }) => atUs >= beginUs && atUs < endUs)?.endUs ?? atUs;
}

/** The value below or at which so many percent of the values lie: the one of that rank, as in a histogram. */
export function percentileOf(values: Float64Array, percentile: number): number {
  const rank = Math.max(Math.ceil((percentile / 100) * values.length - 1e-9), 1);
  return values.toSorted()[rank - 1] ?? 0;
}
