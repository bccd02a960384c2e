import { bucketIndexOf, Histogram, highestValueOf, lowestValueOf } from '../metrics/histogram.js';
import type { Distribution, Latency } from './report.schema.js';

/**
 * The latency row of a report from one histogram, or from several that are added first: total is fresh and
 * reused requests, processing is freshProcessing and reused. All zero while nothing is recorded.
 */
export function latencyOf(...parts: readonly Histogram[]): Latency {
  const merged = mergedOf(parts);
  return {
    count: merged.total,
    minUs: merged.total === 0 ? 0 : merged.minUs,
    meanUs: merged.meanUs,
    stddevUs: merged.stddevUs,
    maxUs: Math.max(merged.maxUs, 0),
    p50Us: merged.percentileUs(50),
    p66Us: merged.percentileUs(66),
    p75Us: merged.percentileUs(75),
    p80Us: merged.percentileUs(80),
    p90Us: merged.percentileUs(90),
    p95Us: merged.percentileUs(95),
    p98Us: merged.percentileUs(98),
    p99Us: merged.percentileUs(99),
    p999Us: merged.percentileUs(99.9),
    p9999Us: merged.percentileUs(99.99),
    bins: binsOf(merged),
  };
}

function binsOf(histogram: Histogram): [number, number][] {
  const bins: [number, number][] = [];
  for (let i = 0; i < histogram.counts.length; i++) {
    const count = histogram.counts[i] ?? 0;
    if (count > 0) bins.push([lowestValueOf(i), count]);
  }
  return bins;
}

/** A histogram of numbers that are no times, as the report shows it. */
export function countsOf(histogram: Histogram): Distribution {
  return {
    count: histogram.total,
    min: histogram.total === 0 ? 0 : histogram.minUs,
    mean: histogram.meanUs,
    p50: histogram.percentileUs(50),
    max: Math.max(histogram.maxUs, 0),
    bins: binsOf(histogram),
  };
}

function mergedOf(parts: readonly Histogram[]): Histogram {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const merged = new Histogram();
  for (const part of parts) merged.add(part);
  return merged;
}

/**
 * The value in µs of the sample of this rank (1-based, clamped) in rising order, from the bins of a report:
 * the highest value of its bucket, within the exact extremes, as `Histogram.valueAtRankUs`.
 */
export function latencyAtRankUs(latency: Latency, rank: number): number {
  const wanted = Math.min(Math.max(rank, 1), latency.count);
  let seen = 0;
  for (const [lowestUs, count] of latency.bins) {
    seen += count;
    if (seen < wanted) continue;
    return Math.max(Math.min(highestValueOf(bucketIndexOf(lowestUs)), latency.maxUs), latency.minUs);
  }
  return latency.maxUs;
}
