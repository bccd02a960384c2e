import { latencyAtRankUs } from '../latency.js';
import type { Latency, Report } from '../report.schema.js';

/** One row of ab's table of connection times, unrounded, in µs. */
export interface AbTimesRow {
  readonly label: 'Connect' | 'Processing' | 'Waiting' | 'Total';
  readonly count: number;
  readonly minUs: number;
  /** Cut to whole µs, as ab does before it rounds to ms. */
  readonly meanUs: number;
  readonly stddevUs: number;
  readonly medianUs: number;
  readonly maxUs: number;
}

/**
 * The four rows over all complete replies. Requests on a reused connection have no connect time of their own;
 * ab counts them as 0, so the Connect row gets that many zeros.
 */
export function abTimesRows({ total, processing, connect, wait, reused }: Report['latency']): AbTimesRow[] {
  return [
    abTimesRow('Connect', connect, reused.count),
    abTimesRow('Processing', processing, 0),
    abTimesRow('Waiting', wait, 0),
    abTimesRow('Total', total, 0),
  ];
}

function abTimesRow(label: AbTimesRow['label'], latency: Latency, zeros: number): AbTimesRow {
  const count = latency.count + zeros;
  const sumUs = latency.meanUs * latency.count;
  // A sum that lies within rounding of a whole number of µs is that number: samples are whole.
  const meanUs = count === 0 ? 0 : Math.floor(Math.round(sumUs) / count);
  const atRankUs = (rank: number): number => (rank <= zeros ? 0 : latencyAtRankUs(latency, rank - zeros));
  return {
    label,
    count,
    minUs: zeros > 0 ? 0 : latency.minUs,
    meanUs,
    stddevUs: stddevAroundUs(latency, zeros, meanUs),
    medianUs: (atRankUs(Math.ceil(count / 2)) + atRankUs(Math.floor(count / 2) + 1)) / 2,
    maxUs: latency.maxUs,
  };
}

/** Sample standard deviation around the cut mean, the added zeros included. */
function stddevAroundUs(latency: Latency, zeros: number, meanUs: number): number {
  const count = latency.count + zeros;
  if (count < 2) return 0;
  const ownSquares =
    latency.stddevUs ** 2 * Math.max(latency.count - 1, 0) + latency.count * (latency.meanUs - meanUs) ** 2;
  return Math.sqrt((ownSquares + zeros * meanUs ** 2) / (count - 1));
}

/** ab's percentile: the sample at position ⌊N·p/100⌋, counted from 0; the last one for 100. */
export function abPercentileUs(total: Latency, percentile: number): number {
  return latencyAtRankUs(total, Math.floor((total.count * percentile) / 100) + 1);
}

/** Whole ms, half up. */
export function abRoundMs(us: number): number {
  return Math.floor((us + 500) / 1_000);
}
