/**
 * The histogram of HdrHistogram (http://hdrhistogram.org) with fixed parameters: lowest value 1 µs, highest
 * one hour, 3 significant digits. Values are whole microseconds. Merging is addition, bucket by bucket.
 *
 *   bucket 0            values 0 … 2047            one value each
 *   bucket b ≥ 1        values 2^b·1024 … 2^b·2048   1024 sub-buckets of width 2^b
 *
 * Sub-bucket s of bucket b has the index (b + 1) · 1024 + (s − 1024), as in HdrHistogram's counts array.
 * The arithmetic is ours because recording through the library costs ten times as much (110 ns against 10 ns)
 * and because three processes must agree on it; a property test compares it with hdr-histogram-js.
 */
const SUB_BUCKET_HALF = 1_024;
const SUB_BUCKET_HALF_BITS = 10;
/** Leading zeros of the largest value of bucket 0 (2047 = 11 bits of 32). */
const BUCKET_0_LEADING_ZEROS = 21;

/** One hour; longer values are recorded as this one. */
export const HIGHEST_VALUE_US = 3_600_000_000;

/** Length of a counts array: 22 buckets for one hour, plus one half for the lower half of bucket 0. */
export const BUCKET_COUNT = 23 * SUB_BUCKET_HALF;

/** Position of a value (whole µs, 0 … `HIGHEST_VALUE_US`) in the counts array. Nothing is checked here. */
export function bucketIndexOf(valueUs: number): number {
  // 2^31 µs is 36 minutes: above, >>> keeps the bits of an unsigned 32-bit number up to 71 minutes.
  const bucket = BUCKET_0_LEADING_ZEROS - Math.clz32(valueUs | (SUB_BUCKET_HALF * 2 - 1));
  return (bucket << SUB_BUCKET_HALF_BITS) + (valueUs >>> bucket);
}

/** Lowest value that falls into the bucket. */
export function lowestValueOf(index: number): number {
  if (index < 2 * SUB_BUCKET_HALF) return index;
  const bucket = (index >>> SUB_BUCKET_HALF_BITS) - 1;
  return ((index & (SUB_BUCKET_HALF - 1)) + SUB_BUCKET_HALF) * 2 ** bucket;
}

/** Highest value that falls into the bucket: what HdrHistogram reports for a percentile. */
export function highestValueOf(index: number): number {
  if (index < 2 * SUB_BUCKET_HALF) return index;
  return lowestValueOf(index) + 2 ** ((index >>> SUB_BUCKET_HALF_BITS) - 1) - 1;
}

/** Exact moments that buckets cannot give back. `minUs` is Infinity and `maxUs` −1 while nothing is recorded. */
export interface Moments {
  minUs: number;
  maxUs: number;
  sumUs: number;
  sumOfSquaresUs2: number;
}

/** A histogram as it travels: the non-empty buckets in rising order, and the exact moments. */
export interface SparseHistogram extends Readonly<Moments> {
  readonly indexes: Uint16Array;
  readonly counts: Float64Array;
}

export const EMPTY_SPARSE_HISTOGRAM: SparseHistogram = Object.freeze({
  indexes: new Uint16Array(0),
  counts: new Float64Array(0),
  minUs: Number.POSITIVE_INFINITY,
  maxUs: -1,
  sumUs: 0,
  sumOfSquaresUs2: 0,
});

/** A full histogram to add into. Counts are doubles: exact up to 2^53. */
export class Histogram implements Moments {
  readonly counts = new Float64Array(BUCKET_COUNT);
  minUs = Number.POSITIVE_INFINITY;
  maxUs = -1;
  sumUs = 0;
  sumOfSquaresUs2 = 0;
  #total = 0;

  static from(...parts: readonly SparseHistogram[]): Histogram {
    const histogram = new Histogram();
    for (const part of parts) histogram.addSparse(part);
    return histogram;
  }

  get total(): number {
    return this.#total;
  }

  /** Records a value in µs; it is rounded, and clamped into the range. */
  record(valueUs: number, count = 1): void {
    const value = Math.min(Math.max(Math.round(valueUs), 0), HIGHEST_VALUE_US);
    const index = bucketIndexOf(value);
    this.counts[index] = (this.counts[index] ?? 0) + count;
    this.#total += count;
    if (value < this.minUs) this.minUs = value;
    if (value > this.maxUs) this.maxUs = value;
    this.sumUs += value * count;
    this.sumOfSquaresUs2 += value * value * count;
  }

  addSparse(more: SparseHistogram): void {
    const { indexes, counts } = more;
    const sums = this.counts;
    let added = 0;
    for (let i = 0; i < indexes.length; i++) {
      const index = indexes[i] ?? 0;
      const count = counts[i] ?? 0;
      sums[index] = (sums[index] ?? 0) + count;
      added += count;
    }
    this.#total += added;
    this.#addMoments(more);
  }

  add(more: Histogram): void {
    for (let i = 0; i < BUCKET_COUNT; i++) this.counts[i] = (this.counts[i] ?? 0) + (more.counts[i] ?? 0);
    this.#total += more.total;
    this.#addMoments(more);
  }

  #addMoments(more: Readonly<Moments>): void {
    this.minUs = Math.min(this.minUs, more.minUs);
    this.maxUs = Math.max(this.maxUs, more.maxUs);
    this.sumUs += more.sumUs;
    this.sumOfSquaresUs2 += more.sumOfSquaresUs2;
  }

  /** Mean in µs, exact; 0 while nothing is recorded. */
  get meanUs(): number {
    return this.#total === 0 ? 0 : this.sumUs / this.#total;
  }

  /** Sample standard deviation (n − 1) in µs, from the exact moments. */
  get stddevUs(): number {
    if (this.#total < 2) return 0;
    const squares = this.sumOfSquaresUs2 - (this.sumUs * this.sumUs) / this.#total;
    return Math.sqrt(Math.max(squares, 0) / (this.#total - 1));
  }

  /**
   * The value (highest of its bucket, at most the exact maximum) below or at which `percentile` % of the
   * recorded values lie, as HdrHistogram defines it. 0 while nothing is recorded.
   */
  percentileUs(percentile: number): number {
    if (this.#total === 0) return 0;
    const exactRank = (Math.min(Math.max(percentile, 0), 100) / 100) * this.#total;
    // 99.9 % of 1000 may come out a hair above 999; rounding up must not skip a sample because of it.
    return this.valueAtRankUs(Math.max(Math.ceil(exactRank * (1 - Number.EPSILON)), 1));
  }

  /** The value of the sample of this rank (1-based) in rising order. */
  valueAtRankUs(rank: number): number {
    let seen = 0;
    for (let i = 0; i < BUCKET_COUNT; i++) {
      seen += this.counts[i] ?? 0;
      if (seen >= rank) return Math.max(Math.min(highestValueOf(i), this.maxUs), this.minUs);
    }
    return Math.max(this.maxUs, 0);
  }

  toSparse(): SparseHistogram {
    return sparseOf(this.counts, this);
  }
}

/** The non-empty buckets of a counts array (any array type), with the moments given. */
export function sparseOf(counts: Uint32Array | Float64Array, moments: Readonly<Moments>): SparseHistogram {
  let used = 0;
  for (let i = 0; i < counts.length; i++) if (counts[i] !== 0) used++;
  const indexes = new Uint16Array(used);
  const values = new Float64Array(used);
  let at = 0;
  for (let i = 0; at < used; i++) {
    const count = counts[i] ?? 0;
    if (count === 0) continue;
    indexes[at] = i;
    values[at++] = count;
  }
  const { minUs, maxUs, sumUs, sumOfSquaresUs2 } = moments;
  return { indexes, counts: values, minUs, maxUs, sumUs, sumOfSquaresUs2 };
}

/** True when both have the same counts in the same buckets and the same exact minimum, maximum and sum. */
export function sameHistogram(a: SparseHistogram, b: SparseHistogram): boolean {
  if (a.indexes.length !== b.indexes.length) return false;
  for (let i = 0; i < a.indexes.length; i++) {
    if (a.indexes[i] !== b.indexes[i] || a.counts[i] !== b.counts[i]) return false;
  }
  return a.minUs === b.minUs && a.maxUs === b.maxUs && a.sumUs === b.sumUs;
}
