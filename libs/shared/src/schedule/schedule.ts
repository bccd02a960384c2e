/**
 * The one schedule of all shards of a run: a pure function from the number of a request to its planned time, so
 * that no rounding adds up and each shard can look up the times of the numbers it owns.
 */
export interface Schedule {
  /**
   * Planned time of request number `index` (0-based, over all shards) in µs after the schedule's beginning;
   * Infinity when it has no such request. Rising with `index`. Random arrivals are cheap in rising order only.
   */
  plannedUs(index: number): number;
}

/** The integral of a rate over time, turned around. */
export interface RateCurve {
  /** When so many requests (a fraction too) are due, in µs; Infinity when that never happens. */
  timeOfUs(requests: number): number;
}
