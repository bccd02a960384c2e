import {
  addCounters,
  COUNTER,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
  type Plan,
  RunTotals,
  type ShardTotals,
  splitPlan,
} from '@broadside/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { booksAreProven } from './proven-books.js';
import { ShardProgress } from './shard-progress.js';

const plan = { requests: 40, connections: 2, target: 'http://127.0.0.1:9/', headers: [] } as unknown as Plan;

/** An interval of ten requests that all took this long. */
function intervalOf(shardIndex: number, number: number, latencyUs: number): Interval {
  const counters = newCounters();
  counters[COUNTER.sent] = 10;
  counters[COUNTER.completed] = 10;
  const reused = new Histogram();
  reused.record(latencyUs, 10);
  return {
    runId: 'r',
    shardIndex,
    attempt: 1,
    number,
    span: 1,
    isLast: number === 1,
    counters,
    statusCounts: new Map([[200, 10]]),
    histograms: HISTOGRAM_NAMES.map((name) => (name === 'reused' ? reused : new Histogram()).toSparse()),
    gauges: new Float64Array(GAUGE_NAMES.length),
  };
}

function totalsOf(intervals: readonly Interval[]): ShardTotals {
  const counters = newCounters();
  for (const interval of intervals) addCounters(counters, interval.counters);
  const sum = new RunTotals();
  for (const interval of intervals) sum.add(interval);
  const histograms = sum.histograms.map((histogram) => histogram.toSparse());
  const gauges = new Float64Array(GAUGE_NAMES.length);
  const { statusCounts } = sum;
  const shardIndex = intervals[0]?.shardIndex ?? 0;
  const intervalCount = intervals.length;
  return {
    runId: 'r',
    shardIndex,
    attempt: 1,
    intervals: intervalCount,
    counters,
    statusCounts,
    histograms,
    gauges,
  };
}

describe('the books of a run', () => {
  let shards: ShardProgress[] = [];
  let merged = new RunTotals();

  beforeEach(() => {
    merged = new RunTotals();
    shards = splitPlan(plan, 'r', 2).map((shard, shardIndex) => {
      const progress = new ShardProgress(shard, 'a', 'a');
      const intervals = [0, 1].map((number) => intervalOf(shardIndex, number, 500 + 100 * shardIndex));
      for (const interval of intervals) {
        progress.count(interval);
        progress.stored.accept(interval);
        merged.addInterval(interval);
      }
      progress.totals = totalsOf(intervals);
      return progress;
    });
  });

  it('prove themselves when all that came is stored and is what the shards say', () => {
    expect(booksAreProven(shards, merged)).toBe(true);
  });

  it.each<[string, (first: ShardProgress) => void]>([
    ['totals are missing', (first) => void (first.totals = undefined)],
    ['an attempt is fenced', (first) => void (first.isFenced = true)],
    ['a shard has failed', (first) => void (first.failure = 'it did not end in time')],
    ['a counter came otherwise than it was said', (first) => void (first.counted[COUNTER.timeout] = 1)],
    ['an interval was merged twice', () => merged.addInterval(intervalOf(0, 0, 500))],
    [
      'a bin was merged wrongly',
      () => {
        const { counts } = merged.histogram('reused');
        counts[500] = (counts[500] ?? 0) - 1;
        counts[501] = (counts[501] ?? 0) + 1;
      },
    ],
    [
      'shards say more intervals than are stored',
      (first) => {
        if (first.totals !== undefined) first.totals = { ...first.totals, intervals: 3 };
      },
    ],
  ])('prove nothing when %s', (_what, spoil) => {
    const [first] = shards;
    if (first === undefined) throw new Error('no shard');
    spoil(first);
    expect(booksAreProven(shards, merged)).toBe(false);
  });

  it('do not need what no slot ever began', () => {
    const [shard] = splitPlan(plan, 'r', 2);
    if (shard === undefined) throw new Error('no shard');
    const unused = new ShardProgress({ ...shard, attempt: 2 }, 'a', 'a');
    unused.didNothing = true;
    expect(booksAreProven([...shards, unused], merged)).toBe(true);
  });
});
