import { COUNTER_NAMES, counterOf } from '../metrics/counters.js';
import { bucketIndexOf, highestValueOf, lowestValueOf, type SparseHistogram } from '../metrics/histogram.js';
import { HISTOGRAM_NAMES, type Interval, type ShardTotals } from '../metrics/interval.js';
import type { ShardSum } from './shard-sum.js';

/**
 * What a shard's own totals hold beyond the intervals that are there, as one interval: of an agent that ended its
 * shard, and was lost before all its intervals had come. Counts and bins are exact, their place in time is not.
 * @param there the first ones of the attempt, without a gap.
 * @returns undefined when they are not, or hold more than the totals.
 */
export function closingInterval(totals: ShardTotals, there: ShardSum): Interval | undefined {
  if (there.problems.length > 0) return undefined;
  const { totals: sum, next } = there;
  const counters = Float64Array.from(
    COUNTER_NAMES,
    (name) => counterOf(totals.counters, name) - sum.counter(name),
  );
  const statusCounts = new Map<number, number>();
  for (const [code, count] of totals.statusCounts) {
    const rest = count - (sum.statusCounts.get(code) ?? 0);
    if (rest !== 0) statusCounts.set(code, rest);
  }
  const histograms = HISTOGRAM_NAMES.map((name, i) =>
    restOf(totals.histograms[i], sum.histogram(name).toSparse()),
  );
  const isLess = [...counters, ...statusCounts.values()].some((count) => count < 0);
  if (isLess || histograms.includes(undefined)) return undefined;
  const { runId, shardIndex, attempt, gauges } = totals;
  return {
    runId,
    shardIndex,
    attempt,
    number: next,
    span: Math.max(totals.intervals - next, 1),
    isLast: true,
    counters,
    statusCounts,
    histograms: histograms.flatMap((histogram) => histogram ?? []),
    gauges,
  };
}

/** Bins and sums of the whole less those of a part. */
function restOf(whole: SparseHistogram | undefined, part: SparseHistogram): SparseHistogram | undefined {
  if (whole === undefined) return part.counts.length === 0 ? part : undefined;
  const counts = new Map<number, number>();
  for (const [i, index] of whole.indexes.entries()) counts.set(index, whole.counts[i] ?? 0);
  for (const [i, index] of part.indexes.entries()) {
    const rest = (counts.get(index) ?? 0) - (part.counts[i] ?? 0);
    if (rest < 0) return undefined;
    if (rest === 0) counts.delete(index);
    else counts.set(index, rest);
  }
  const buckets = [...counts].filter(([, count]) => count > 0);
  const [first, last] = [buckets[0]?.[0], buckets.at(-1)?.[0]];
  return {
    indexes: Uint16Array.from(buckets, ([index]) => index),
    counts: Float64Array.from(buckets, ([, count]) => count),
    minUs: first === undefined ? Number.POSITIVE_INFINITY : leastIn(first, whole),
    maxUs: last === undefined ? -1 : mostIn(last, whole),
    sumUs: whole.sumUs - part.sumUs,
    sumOfSquaresUs2: whole.sumOfSquaresUs2 - part.sumOfSquaresUs2,
  };
}

/** An extreme that is not in the rest is in the part, and the rest has none beyond its outer buckets. */
function leastIn(bucket: number, { minUs }: SparseHistogram): number {
  return bucketIndexOf(minUs) === bucket ? minUs : lowestValueOf(bucket);
}

function mostIn(bucket: number, { maxUs }: SparseHistogram): number {
  return bucketIndexOf(maxUs) === bucket ? maxUs : highestValueOf(bucket);
}
