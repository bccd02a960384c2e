import {
  COUNTER,
  GAUGE,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
  type Shard,
  type ShardTotals,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { FigureSum } from './run-figures.js';
import { ShardProgress } from './shard-progress.js';

interface Did {
  readonly attempt?: number;
  readonly startSlice?: number;
  /** Requests that ended in each of its intervals. */
  readonly ended: readonly number[];
  /** Of its totals; absent: the attempt was lost before it could say. */
  readonly lastEventUs?: number;
  readonly warmupMs?: number;
}

function progressOf({ attempt = 1, startSlice = 0, ended, lastEventUs, warmupMs }: Did): ShardProgress {
  const shard: Partial<Shard> = { runId: 'r', shardIndex: 0, attempt, connections: 4, warmupMs };
  const progress = new ShardProgress(shard as Shard, 'a', 'a');
  progress.startSlice = startSlice;
  const parts = { runId: 'r', shardIndex: 0, attempt, statusCounts: new Map<number, number>() };
  const histograms = HISTOGRAM_NAMES.map(() => new Histogram().toSparse());
  for (const [number, count] of ended.entries()) {
    const counters = newCounters();
    counters[COUNTER.completed] = count;
    const gauges = new Float64Array(GAUGE_NAMES.length);
    const isWarmup = number * 1_000 < (warmupMs ?? 0);
    const interval = { ...parts, number, span: 1, isLast: false, counters, histograms, gauges, isWarmup };
    progress.count(interval as Interval);
  }
  if (lastEventUs === undefined) {
    progress.isFenced = true;
    return progress;
  }
  const gauges = new Float64Array(GAUGE_NAMES.length);
  gauges[GAUGE.lastEventUs] = lastEventUs;
  const totals: ShardTotals = {
    ...parts,
    intervals: ended.length,
    counters: progress.counted,
    histograms,
    gauges,
  };
  progress.totals = totals;
  return progress;
}

function figuresOf(...attempts: readonly Did[]) {
  const sum = new FigureSum(8);
  for (const did of attempts) sum.add(progressOf(did));
  return sum.end();
}

describe('the rate of an agent', () => {
  it('is what ended on it over its time', () => {
    expect(figuresOf({ ended: [300, 300], lastEventUs: 2_000_000 })).toEqual({
      rateHz: 300,
      plannedShare: 0.5,
    });
    const slots = [
      { ended: [100, 100], lastEventUs: 2_000_000 },
      { ended: [100, 50], lastEventUs: 1_500_000 },
    ];
    expect(figuresOf(...slots)).toEqual({ rateHz: 175, plannedShare: 1 });
  });

  it('has in it what the agent took over, from its first begin to its last end', () => {
    const own = { ended: [300, 300], lastEventUs: 2_000_000 };
    const rest = { attempt: 2, startSlice: 7, ended: [100, 100, 100], lastEventUs: 3_000_000 };
    expect(figuresOf(own, rest)).toEqual({ rateHz: 90, plannedShare: 0.5 });
    expect(figuresOf(rest)).toEqual({ rateHz: 100 });
  });

  it('is that of its intervals where the agent was lost', () => {
    expect(figuresOf({ ended: [500, 500] })).toEqual({ rateHz: 500 });
  });

  it('has no warm-up in it, and is not there where nothing ended', () => {
    const warm = { ended: [900, 100, 100], lastEventUs: 3_000_000, warmupMs: 1_000 };
    expect(figuresOf(warm).rateHz).toBe(100);
    expect(figuresOf({ ended: [] }).rateHz).toBeUndefined();
  });
});
