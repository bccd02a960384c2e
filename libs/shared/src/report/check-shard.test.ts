import { describe, expect, it } from 'vitest';
import { COUNTER_NAMES } from '../metrics/counters.js';
import { HISTOGRAM_NAMES, type Interval, mergeNeighbours, type ShardTotals } from '../metrics/interval.js';
import { intervalOf, observed, RUN_ID, type Seen } from '../testing/observed.js';
import { checkShard } from './check-shard.js';
import { ShardSum } from './shard-sum.js';

const INTERVALS: readonly Interval[] = [
  intervalOf(0, { counters: { sent: 3, completed: 2 }, statusCounts: [[200, 2]], samples: { wait: [5, 9] } }),
  intervalOf(1, {}),
  intervalOf(2, { counters: { sent: 1, completed: 2 }, statusCounts: [[200, 2]], samples: { wait: [5, 7] } }),
  intervalOf(3, { counters: { inFlightAtEnd: 1 } }, { isLast: true }),
];
const SUMS: Seen = {
  counters: { sent: 4, completed: 4, inFlightAtEnd: 1 },
  statusCounts: [[200, 4]],
  samples: { wait: [5, 5, 7, 9] },
};

function totals(seen: Seen = SUMS, intervals = 4): ShardTotals {
  return { runId: RUN_ID, shardIndex: 0, attempt: 1, intervals, ...observed(seen) };
}

function problems(intervals: readonly Interval[], own: ShardTotals | undefined = totals()): string[] {
  return checkShard('shard 0', ShardSum.of(intervals), own).problems;
}

function without(...numbers: number[]): Interval[] {
  return INTERVALS.filter(({ number }) => !numbers.includes(number));
}

describe('checkShard', () => {
  it('has no problems when all intervals are there and add up, in any order', () => {
    expect(problems(INTERVALS)).toEqual([]);
    expect(problems(INTERVALS.toReversed())).toEqual([]);
  });

  it('takes intervals that an outbox has merged for what they cover', () => {
    const [first, second, ...rest] = INTERVALS;
    if (first === undefined || second === undefined) throw new Error('no intervals');
    expect(problems([mergeNeighbours(first, second), ...rest])).toEqual([]);
    expect(problems([INTERVALS.reduce(mergeNeighbours)])).toEqual([]);
  });

  it('gives the sum of the intervals', () => {
    const { sum } = checkShard('shard 0', ShardSum.of(INTERVALS), totals());
    expect(sum.counter('completed')).toBe(4);
    expect(sum.histogram('wait').total).toBe(4);
  });

  it('names missing intervals', () => {
    expect(problems(without(1))).toEqual(['shard 0: interval 1 is missing']);
    expect(problems(without(1, 2))).toContain('shard 0: intervals 1 to 2 are missing');
    expect(problems(without(0, 1, 2)).at(0)).toBe('shard 0: intervals 0 to 2 are missing');
    expect(problems(without(3)).at(0)).toBe('shard 0: interval 3 is missing');
    expect(problems([]).at(0)).toBe('shard 0: intervals 0 to 3 are missing');
  });

  it('names what never came from a lost agent', () => {
    const lost = (intervals: readonly Interval[]) =>
      checkShard('shard 7', ShardSum.of(intervals), undefined).problems;
    expect(lost(without(3))).toEqual([
      'shard 7: the last interval is missing (after number 2)',
      'shard 7: its own totals never came',
    ]);
    expect(lost([])).toEqual(['shard 7: no interval came', 'shard 7: its own totals never came']);
  });

  it('names an interval that was counted twice', () => {
    expect(problems([...INTERVALS, intervalOf(1, {})])).toEqual(['shard 0: interval 1 came twice']);
  });

  it.each(COUNTER_NAMES)('sees a difference of one in %s', (name) => {
    const own = totals({ ...SUMS, counters: { ...SUMS.counters, [name]: (SUMS.counters?.[name] ?? 0) + 1 } });
    const before = SUMS.counters?.[name] ?? 0;
    expect(problems(INTERVALS, own)).toEqual([
      `shard 0: ${name} is ${before} in the intervals and ${before + 1} in the totals`,
    ]);
  });

  it.each(HISTOGRAM_NAMES)('sees one bin of %s that differs', (name) => {
    const samples = { ...SUMS.samples, [name]: [...(SUMS.samples?.[name] ?? []), 12] };
    expect(problems(INTERVALS, totals({ ...SUMS, samples }))).toEqual([
      `shard 0: the ${name} histogram of the intervals is not that of the totals`,
    ]);
  });

  it('sees status codes that differ, on either side', () => {
    expect(problems(INTERVALS, totals({ ...SUMS, statusCounts: [[500, 1]] }))).toEqual([
      'shard 0: status 200 is 4 in the intervals and 0 in the totals',
      'shard 0: status 500 is 0 in the intervals and 1 in the totals',
    ]);
  });

  it('stops after the first differences and says how many there are', () => {
    const many = { sent: 9, completed: 9, planned: 9, tls: 9, write: 9 };
    const found = problems(INTERVALS, totals({ ...SUMS, counters: { ...SUMS.counters, ...many } }));
    expect(found).toHaveLength(4);
    expect(found.at(-1)).toBe('shard 0: and 2 more differences');
  });
});
