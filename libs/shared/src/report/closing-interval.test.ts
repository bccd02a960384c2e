import { expect, it } from 'vitest';
import { COUNTER, newCounters } from '../metrics/counters.js';
import { Histogram } from '../metrics/histogram.js';
import { GAUGE_NAMES, HISTOGRAM_NAMES, type Interval, type ShardTotals } from '../metrics/interval.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { decodeInterval, encodeInterval } from '../wire/frame.js';
import { checkShard } from './check-shard.js';
import { closingInterval } from './closing-interval.js';
import { RunTotals } from './run-totals.js';
import { ShardSum } from './shard-sum.js';

function randomInterval(random: Random, number: number, isLast: boolean): Interval {
  const counters = newCounters();
  const reused = new Histogram();
  const completed = random.int(0, 30);
  for (let i = 0; i < completed; i++) reused.record(random.magnitude(5_000_000));
  counters[COUNTER.sent] = completed;
  counters[COUNTER.completed] = completed;
  return {
    runId: 'r',
    shardIndex: 0,
    attempt: 1,
    number,
    span: 1,
    isLast,
    counters,
    statusCounts: completed > 0 ? new Map([[random.pick([200, 404]), completed]]) : new Map(),
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: HISTOGRAM_NAMES.map((name) => (name === 'reused' ? reused : new Histogram()).toSparse()),
  };
}

function totalsOf(intervals: readonly Interval[]): ShardTotals {
  const sum = new RunTotals();
  for (const interval of intervals) sum.add(interval);
  return {
    runId: 'r',
    shardIndex: 0,
    attempt: 1,
    intervals: intervals.length,
    counters: sum.counters,
    statusCounts: sum.statusCounts,
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: sum.histograms.map((histogram) => histogram.toSparse()),
  };
}

it(`makes up for missing intervals bin for bin, and travels as a frame (seed ${FUZZ_SEED})`, () => {
  const random = new Random(FUZZ_SEED);
  for (let round = 0; round < 50; round++) {
    const length = random.int(1, 8);
    const all = Array.from({ length }, (_, i) => randomInterval(random, i, i === length - 1));
    const totals = totalsOf(all);
    const there = all.slice(0, random.int(0, length - 1));
    const closing = closingInterval(totals, ShardSum.of(there));
    if (closing === undefined) throw new Error('no closing interval');
    const arrived = decodeInterval(encodeInterval(closing));
    expect(checkShard('shard', ShardSum.of([...there, arrived]), totals).problems).toEqual([]);
  }
});

it('is none where the intervals have a gap, or hold more than the totals', () => {
  const random = new Random(1);
  const all = [0, 1, 2].map((i) => randomInterval(random, i, i === 2));
  const [first, second, third] = all;
  if (first === undefined || second === undefined || third === undefined) throw new Error('too few');
  expect(closingInterval(totalsOf(all), ShardSum.of([first, third]))).toBeUndefined();
  expect(closingInterval(totalsOf([first]), ShardSum.of([first, second]))).toBeUndefined();
});
