import {
  COUNTER,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
  RunTotals,
  sameHistogram,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { IntervalMerger } from './interval-merger.js';
import { SecondSeries } from './second-series.js';
import { SecondSum } from './second-sum.js';

/** Park–Miller, so that a failure can be repeated from its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

interface Given {
  readonly shardIndex: number;
  readonly number: number;
  readonly isLast?: boolean;
  readonly span?: number;
  readonly latenciesUs: readonly number[];
}

function intervalOf(given: Given): Interval {
  const counters = newCounters();
  const completed = given.latenciesUs.length;
  counters[COUNTER.planned] = completed;
  counters[COUNTER.sent] = completed;
  counters[COUNTER.completed] = completed;
  const reused = new Histogram();
  for (const latencyUs of given.latenciesUs) reused.record(latencyUs);
  return {
    runId: 'r',
    shardIndex: given.shardIndex,
    attempt: 1,
    number: given.number,
    span: given.span ?? 1,
    isLast: given.isLast ?? false,
    counters,
    statusCounts: new Map([[200, completed]]),
    histograms: HISTOGRAM_NAMES.map((name) => (name === 'reused' ? reused : new Histogram()).toSparse()),
    gauges: Float64Array.from(GAUGE_NAMES, (name) => (name.endsWith('Us') && name !== 'cpuUs' ? 0 : 0.5)),
  };
}

describe('the interval merger', () => {
  it('equals one accumulator over all intervals, in any order and with duplicates', () => {
    const seed = Math.floor(Math.random() * 2_147_483_646);
    const random = randomFrom(seed);
    for (let round = 0; round < 20; round++) {
      const shardCount = 1 + random(5);
      const intervals: Interval[] = [];
      for (let shardIndex = 0; shardIndex < shardCount; shardIndex++) {
        const length = 1 + random(12);
        for (let number = 0; number < length; number++) {
          const latenciesUs = Array.from({ length: random(20) }, () => random(5_000_000));
          intervals.push(intervalOf({ shardIndex, number, isLast: number === length - 1, latenciesUs }));
        }
      }
      const expected = new RunTotals();
      for (const interval of intervals) expected.add(interval);
      const arriving = [...intervals, ...intervals.filter(() => random(3) === 0)];
      for (let i = arriving.length - 1; i > 0; i--) {
        const j = random(i + 1);
        [arriving[i], arriving[j]] = [arriving[j] as Interval, arriving[i] as Interval];
      }

      const merger = new IntervalMerger({ shardCount });
      const closed = arriving.flatMap((interval) => {
        merger.accept(interval);
        return merger.takeClosed();
      });

      expect(merger.totals.counters, `seed ${seed}`).toEqual(expected.counters);
      expect(merger.totals.statusCounts, `seed ${seed}`).toEqual(expected.statusCounts);
      for (const name of HISTOGRAM_NAMES) {
        const [merged, wanted] = [merger.totals.histogram(name), expected.histogram(name)];
        expect(sameHistogram(merged.toSparse(), wanted.toSparse()), `seed ${seed}`).toBe(true);
      }
      expect(
        closed.map((second) => second.second),
        `seed ${seed}`,
      ).toEqual(closed.map((_, i) => i));
      for (const second of closed) {
        const own = intervals.filter((interval) => interval.number === second.second);
        const completed = own.reduce((sum, each) => sum + (each.counters[COUNTER.completed] ?? 0), 0);
        expect(second.completed, `seed ${seed}`).toBe(completed);
      }
      const inSeconds = merger.seconds().reduce((sum, second) => sum + second.completed, 0);
      expect(inSeconds, `seed ${seed}`).toBe(expected.counter('completed'));
    }
  });

  it('closes a second when the slowest live shard has delivered it', () => {
    const merger = new IntervalMerger({ shardCount: 2 });
    merger.accept(intervalOf({ shardIndex: 0, number: 0, latenciesUs: [10] }));
    expect(merger.takeClosed()).toEqual([]);
    merger.accept(intervalOf({ shardIndex: 1, number: 0, latenciesUs: [30, 20] }));
    expect(merger.takeClosed()).toMatchObject([{ second: 0, completed: 3, maxUs: 30, p50Us: 20 }]);
  });

  it('does not wait for shards that have ended or are fenced', () => {
    const merger = new IntervalMerger({ shardCount: 3 });
    merger.accept(intervalOf({ shardIndex: 0, number: 0, isLast: true, latenciesUs: [1] }));
    merger.end(2);
    merger.accept(intervalOf({ shardIndex: 1, number: 0, latenciesUs: [1] }));
    merger.accept(intervalOf({ shardIndex: 1, number: 1, latenciesUs: [1] }));
    expect(merger.takeClosed().map((second) => second.completed)).toEqual([2, 1]);
    expect(merger.isComplete(0)).toBe(true);
    expect(merger.isComplete(1)).toBe(false);
  });

  it('holds no more open seconds than its bound, and loses no count of a late shard', () => {
    const merger = new IntervalMerger({ shardCount: 2, maxOpenSeconds: 3 });
    for (let number = 0; number < 10; number++) {
      merger.accept(intervalOf({ shardIndex: 0, number, latenciesUs: [1] }));
    }
    expect(merger.takeClosed().map((second) => second.second)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (let number = 0; number < 10; number++) {
      merger.accept(intervalOf({ shardIndex: 1, number, latenciesUs: [1] }));
    }
    merger.takeClosed();
    expect(merger.totals.counter('completed')).toBe(20);
    expect(merger.seconds().reduce((sum, second) => sum + second.completed, 0)).toBe(20);
  });

  it('refuses an interval that overlaps another one instead of counting twice', () => {
    const merger = new IntervalMerger({ shardCount: 1 });
    merger.accept(intervalOf({ shardIndex: 0, number: 0, latenciesUs: [1] }));
    expect(merger.accept(intervalOf({ shardIndex: 0, number: 0, span: 2, latenciesUs: [1, 1] }))).toBe(
      'overlap',
    );
    expect(merger.totals.counter('completed')).toBe(1);
  });
});

describe('the seconds of the report', () => {
  const sumOf = (count: number): SecondSum => {
    const sum = new SecondSum();
    const latenciesUs = Array.from({ length: count }, () => 7);
    sum.add(intervalOf({ shardIndex: 0, number: 0, latenciesUs }));
    return sum;
  };

  it('are folded when the run is longer than the report has rows, without losing a count', () => {
    const series = new SecondSeries(undefined, 4);
    for (let second = 0; second < 100; second++) series.push(second, sumOf(second));
    const rows = series.rows();
    expect(rows.length).toBeLessThanOrEqual(5);
    expect(rows.reduce((sum, row) => sum + row.completed, 0)).toBe((99 * 100) / 2);
    expect(rows[0]?.maxUs).toBe(7);
  });

  it('keep their percentiles when the length of the run is known beforehand', () => {
    const series = new SecondSeries(8, 4);
    for (let second = 0; second < 8; second++) series.push(second, sumOf(2));
    expect(series.rows().map((row) => [row.second, row.completed, row.p99Us])).toEqual([
      [0, 4, 7],
      [2, 4, 7],
      [4, 4, 7],
      [6, 4, 7],
    ]);
  });
});
