import { GAUGE_NAMES, type Interval, newCounters } from '@broadside/shared';

/** An interval in which nothing happened, for tests; with whatever they add to it. */
export function plainInterval(given: Partial<Interval> = {}): Interval {
  return {
    runId: 'r1',
    shardIndex: 0,
    attempt: 1,
    number: 0,
    span: 1,
    isLast: false,
    counters: newCounters(),
    statusCounts: new Map(),
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: [],
    ...given,
  };
}
