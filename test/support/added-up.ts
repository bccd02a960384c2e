// Sums of what shards counted, added by hand: none of the code that merges for a report is in them.

import {
  HISTOGRAM,
  type HistogramName,
  type Interval,
  type Latency,
  lowestValueOf,
  type ShardTotals,
} from '@broadside/shared';
import { expect } from 'vitest';

/** A latency of the report has exactly the bins of these histograms of the shards together. */
export function expectBins(
  latency: Latency,
  shards: readonly ShardTotals[],
  names: readonly HistogramName[],
): void {
  const bins = [...binsOf(shards, names)].sort(([a], [b]) => a - b);
  expect(latency.bins).toEqual(bins.map(([index, count]) => [lowestValueOf(index), count]));
  expect(latency.count).toBe(sum(bins.map(([, count]) => count)));
}

/** Bucket index to count. */
export function binsOf(
  parts: readonly (ShardTotals | Interval)[],
  names: readonly HistogramName[],
): ReadonlyMap<number, number> {
  const bins = new Map<number, number>();
  for (const part of parts) {
    for (const name of names) {
      const sparse = part.histograms[HISTOGRAM[name]];
      if (sparse === undefined) continue;
      for (const [i, index] of sparse.indexes.entries()) {
        bins.set(index, (bins.get(index) ?? 0) + (sparse.counts[i] ?? 0));
      }
    }
  }
  return new Map([...bins].sort(([a], [b]) => a - b));
}

export function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
