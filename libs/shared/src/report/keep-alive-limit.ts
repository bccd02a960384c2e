import { bucketIndexOf, highestValueOf } from '../metrics/histogram.js';
import type { Distribution, Report } from './report.schema.js';

/** A server's limit of requests per connection that it does not announce. */
export interface KeepAliveLimit {
  /** Complete replies after which it closes a connection. */
  readonly requests: number;
  /** Whether the number is exact: else it stands for its bucket, 0.1 % wide. */
  readonly isExact: boolean;
  /** Closes that came at this number, of all closes without a word. */
  readonly closes: number;
  readonly allCloses: number;
}

/** Fewer closes at one number may be chance. */
const MIN_CLOSES = 3;
/** So many of all closes must agree: resets and timeouts have their share in real runs. */
const MIN_SHARE = 0.9;

/**
 * Recognises a regular limit from the replies that connections had carried when the target closed them without
 * a word: with a request on its way or, where the load leaves pauses, while idle. A limit puts nearly all closes
 * at one number; whatever closes connections by time or by chance spreads them out. Undefined when there is none.
 */
export function keepAliveLimitOf(report: Pick<Report, 'requestsPerConnection'>): KeepAliveLimit | undefined {
  const { closedUnannounced, closedIdle } = report.requestsPerConnection;
  // An idle timeout closes connections after one request as regularly as a limit of one would, so a close while
  // idle says something from two requests on.
  const idle = { ...closedIdle, bins: closedIdle.bins.filter(([lowest]) => lowest >= 2) };
  const counts = new Map<number, number>();
  for (const [lowest, count] of [...closedUnannounced.bins, ...idle.bins]) {
    counts.set(lowest, (counts.get(lowest) ?? 0) + count);
  }
  const allCloses = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const [lowest, closes] = [...counts].reduce((most, bin) => (bin[1] > most[1] ? bin : most), [0, 0]);
  if (lowest < 1 || closes < MIN_CLOSES || closes < MIN_SHARE * allCloses) return undefined;
  const highest = highestValueOf(bucketIndexOf(lowest));
  if (highest === lowest) return { requests: lowest, isExact: true, closes, allCloses };
  const exact = exactValueIn(lowest, highest, [closedUnannounced, idle]);
  return exact === undefined
    ? { requests: roundestIn(lowest, highest), isExact: false, closes, allCloses }
    : { requests: exact, isExact: true, closes, allCloses };
}

/** Where all of a distribution lies in the bucket and its exact extremes agree, that is the value. */
function exactValueIn(lowest: number, highest: number, parts: readonly Distribution[]): number | undefined {
  const values = new Set<number>();
  for (const { count, min, max } of parts) {
    if (count === 0 || max < lowest || min > highest) continue;
    values.add(min).add(max);
  }
  const [value, ...others] = values;
  const isInside = value !== undefined && value >= lowest && value <= highest;
  return isInside && others.length === 0 ? value : undefined;
}

/** The number of the bucket that ends in most zeros: limits are set by people. */
function roundestIn(lowest: number, highest: number): number {
  for (let step = 10 ** Math.floor(Math.log10(highest)); step > 1; step /= 10) {
    const candidate = Math.ceil(lowest / step) * step;
    if (candidate <= highest) return candidate;
  }
  return lowest;
}
