import { build } from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import {
  BUCKET_COUNT,
  bucketIndexOf,
  EMPTY_SPARSE_HISTOGRAM,
  HIGHEST_VALUE_US,
  Histogram,
  highestValueOf,
  lowestValueOf,
  sameHistogram,
  sparseOf,
} from './histogram.js';

const PERCENTILES = [0.001, 1, 25, 50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 99.999, 100];

function reference() {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_VALUE_US,
    numberOfSignificantValueDigits: 3,
  });
}

/** Position that HdrHistogram gives a value: the only non-empty bucket after recording it. */
function referenceIndexOf(valueUs: number): number {
  // Part of its class and not of its declared interface.
  return (reference() as unknown as { countsArrayIndex(value: number): number }).countsArrayIndex(valueUs);
}

/** Values at which a bucket begins or ends, with their neighbours. */
function boundaryValues(): number[] {
  const values = new Set([0, 1, HIGHEST_VALUE_US, HIGHEST_VALUE_US - 1]);
  for (let bit = 1; bit < 32; bit++) {
    for (const near of [-1, 0, 1]) {
      values.add(2 ** bit + near);
      values.add(2 ** bit + 2 ** Math.max(bit - 11, 0) + near);
      values.add(2 ** bit * 1.5 + near);
    }
  }
  return [...values].filter((v) => Number.isInteger(v) && v >= 0 && v <= HIGHEST_VALUE_US);
}

describe('bucketIndexOf', () => {
  it(`is the index of HdrHistogram for boundary and random values (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const values = [
      ...boundaryValues(),
      ...Array.from({ length: 5_000 }, () => random.magnitude(HIGHEST_VALUE_US)),
    ];
    const differing = values.filter((value) => bucketIndexOf(value) !== referenceIndexOf(value));
    expect(differing).toEqual([]);
  });

  it('stays within the array, which ends with the bucket of one hour', () => {
    expect(bucketIndexOf(HIGHEST_VALUE_US)).toBeLessThan(BUCKET_COUNT);
    expect(bucketIndexOf(HIGHEST_VALUE_US)).toBeGreaterThan(BUCKET_COUNT - 1_024);
    expect(BUCKET_COUNT).toBeLessThanOrEqual(65_536);
  });

  it('gives every bucket the values from its lowest to its highest, without gap or overlap', () => {
    const wrong = [];
    for (let index = 0; index <= bucketIndexOf(HIGHEST_VALUE_US); index++) {
      const lowest = lowestValueOf(index);
      const highest = highestValueOf(index);
      const isBucket = bucketIndexOf(lowest) === index && bucketIndexOf(highest) === index;
      if (!isBucket || lowestValueOf(index + 1) !== highest + 1) wrong.push(index);
    }
    expect(wrong).toEqual([]);
  });
});

describe('Histogram', () => {
  it(`gives the percentiles, mean and deviation of HdrHistogram (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 25; round++) {
      const own = new Histogram();
      const other = reference();
      for (let i = random.int(1, 2_000); i > 0; i--) {
        const value = random.magnitude(HIGHEST_VALUE_US);
        const count = random.next() < 0.1 ? random.int(1, 100) : 1;
        own.record(value, count);
        other.recordValueWithCount(value, count);
      }
      expect(own.total).toBe(other.totalCount);
      // HdrHistogram names the end of the bucket even where that lies beyond the largest value.
      const expected = PERCENTILES.map((p) => Math.min(other.getValueAtPercentile(p), own.maxUs));
      expect(PERCENTILES.map((p) => own.percentileUs(p))).toEqual(expected);
      // Its moments come from the buckets and ours are exact: equal within the width of a bucket.
      expect(Math.abs(own.meanUs / other.mean - 1)).toBeLessThan(0.001);
    }
  });

  it('takes the exact rank of a percentile, which floating point misses by one here and there', () => {
    const histogram = new Histogram();
    const wrong = [];
    for (let n = 1; n <= 2_000; n++) {
      histogram.record(n);
      for (const tenths of [1, 10, 500, 660, 900, 950, 990, 999]) {
        const expected = histogram.valueAtRankUs(Math.max(Math.ceil((tenths * n) / 1_000), 1));
        if (histogram.percentileUs(tenths / 10) !== expected) wrong.push([tenths / 10, n]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('knows exact moments', () => {
    const histogram = new Histogram();
    for (const value of [2, 4, 4, 4, 5, 5, 7, 9]) histogram.record(value);
    expect(histogram).toMatchObject({ total: 8, minUs: 2, maxUs: 9, sumUs: 40, meanUs: 5 });
    expect(histogram.stddevUs).toBeCloseTo(Math.sqrt(32 / 7), 12);
  });

  it('rounds to whole µs and keeps values within the range', () => {
    const histogram = new Histogram();
    histogram.record(-5);
    histogram.record(1.5);
    histogram.record(HIGHEST_VALUE_US * 2);
    expect(histogram).toMatchObject({ total: 3, minUs: 0, maxUs: HIGHEST_VALUE_US });
    expect(histogram.valueAtRankUs(2)).toBe(2);
  });

  it('is all zeros while nothing is recorded', () => {
    const histogram = new Histogram();
    expect(histogram.percentileUs(50)).toBe(0);
    expect(histogram.valueAtRankUs(1)).toBe(0);
    expect(histogram.meanUs).toBe(0);
    expect(histogram.stddevUs).toBe(0);
  });

  it('gives exact extremes for the lowest and highest percentile, in and out of range', () => {
    const histogram = new Histogram();
    histogram.record(123_457);
    histogram.record(7_654_321);
    expect(histogram.percentileUs(0)).toBe(highestValueOf(bucketIndexOf(123_457)));
    expect(histogram.percentileUs(-1)).toBe(histogram.percentileUs(0));
    expect(histogram.percentileUs(100)).toBe(7_654_321);
    expect(histogram.percentileUs(101)).toBe(7_654_321);
  });

  it(`merges to what one recorder that saw everything has, in any order (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 10; round++) {
      const one = new Histogram();
      const parts = Array.from({ length: random.int(1, 9) }, () => new Histogram());
      for (let i = random.int(0, 3_000); i > 0; i--) {
        const value = random.magnitude(HIGHEST_VALUE_US);
        one.record(value);
        random.pick(parts).record(value);
      }
      const sparse = parts.map((part) => part.toSparse());
      const merged = Histogram.from(...sparse);
      const backwards = Histogram.from(...sparse.toReversed());
      const added = new Histogram();
      for (const part of parts) added.add(part);
      for (const other of [merged, backwards, added]) {
        expect(sameHistogram(other.toSparse(), one.toSparse())).toBe(true);
        expect(other.total).toBe(one.total);
        for (const percentile of PERCENTILES) {
          expect(other.percentileUs(percentile)).toBe(one.percentileUs(percentile));
        }
      }
    }
  });
});

describe('sparseOf', () => {
  it('keeps the non-empty buckets in rising order', () => {
    const counts = new Uint32Array(BUCKET_COUNT);
    counts[3] = 2;
    counts[BUCKET_COUNT - 1] = 1;
    const sparse = sparseOf(counts, { minUs: 3, maxUs: 9, sumUs: 15, sumOfSquaresUs2: 99 });
    expect([...sparse.indexes]).toEqual([3, BUCKET_COUNT - 1]);
    expect([...sparse.counts]).toEqual([2, 1]);
    expect(sparse).toMatchObject({ minUs: 3, maxUs: 9, sumUs: 15, sumOfSquaresUs2: 99 });
  });

  it('of nothing is the empty one', () => {
    expect(sameHistogram(new Histogram().toSparse(), EMPTY_SPARSE_HISTOGRAM)).toBe(true);
  });
});

describe('sameHistogram', () => {
  const sampled = (...values: number[]) => {
    const histogram = new Histogram();
    for (const value of values) histogram.record(value);
    return histogram.toSparse();
  };

  it.each([
    ['another bucket', sampled(1, 3)],
    ['another count', sampled(1, 2, 2)],
    ['fewer buckets', sampled(1)],
    ['another exact value in the same bucket', sampled(1, 2, 4_097)],
  ])('sees %s', (_, other) => {
    expect(sameHistogram(sampled(1, 2), other)).toBe(false);
    expect(sameHistogram(sampled(1, 2, 4_096), other)).toBe(false);
  });

  it('sees another exact value between the extremes, by the sum', () => {
    expect(sameHistogram(sampled(1, 4_096, 9_000), sampled(1, 4_097, 9_000))).toBe(false);
    expect(sameHistogram(sampled(1, 4_096, 9_000), sampled(9_000, 1, 4_096))).toBe(true);
  });
});
