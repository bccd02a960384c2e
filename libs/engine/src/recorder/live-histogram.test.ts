import { HIGHEST_VALUE_US, Histogram, sameHistogram } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, seededRandom } from '../testing/seeded-random.js';
import { LiveHistogram } from './live-histogram.js';

describe(`LiveHistogram (FUZZ_SEED=${FUZZ_SEED})`, () => {
  it('gives the same buckets and moments as the shared histogram, take after take', () => {
    const random = seededRandom(FUZZ_SEED);
    const live = new LiveHistogram();
    for (let round = 0; round < 20; round++) {
      const expected = new Histogram();
      for (let i = 0; i < 500; i++) {
        const valueUs = 10 ** (random() * 11 - 1);
        live.record(valueUs);
        expected.record(valueUs);
      }
      const taken = live.take();
      expect(sameHistogram(taken, expected.toSparse())).toBe(true);
      expect(taken.sumOfSquaresUs2).toBe(expected.sumOfSquaresUs2);
    }
  });

  it('is empty when nothing was recorded since the last take', () => {
    const live = new LiveHistogram();
    live.record(5);
    live.take();
    expect(live.take()).toEqual(new Histogram().toSparse());
  });

  it('clamps values outside the range', () => {
    const live = new LiveHistogram();
    for (const valueUs of [-5, Number.NaN, 0, HIGHEST_VALUE_US * 2]) live.record(valueUs);
    const taken = live.take();
    expect([taken.minUs, taken.maxUs]).toEqual([0, HIGHEST_VALUE_US]);
    expect(Array.from(taken.counts)).toEqual([3, 1]);
  });
});
