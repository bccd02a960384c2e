import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { dealByWeights, dealtShare, splitByWeights, splitWithOneEach } from './deal.js';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('splitByWeights', () => {
  it(`gives shares that add up exactly and are less than one off, whatever the weights (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 2_000; round++) {
      const weights = Array.from({ length: random.int(1, 40) }, () => random.magnitude(1_000_000));
      weights[0] = (weights[0] ?? 0) + 1;
      const total = random.magnitude(LIMITS.maxRequests);
      const shares = splitByWeights(total, weights);
      const allWeights = sum(weights);
      const off = shares.map((share, i) => Math.abs(share - (total * (weights[i] ?? 0)) / allWeights));
      expect(sum(shares)).toBe(total);
      expect(Math.max(...off)).toBeLessThan(1.001);
    }
  });

  it('gives what is left to those that were cut most, the first ones where they are alike', () => {
    expect(splitByWeights(7, [1, 1, 1, 1, 1])).toEqual([2, 2, 1, 1, 1]);
    expect(splitByWeights(10, [3, 1])).toEqual([8, 2]);
    expect(splitByWeights(10, [1, 3, 3])).toEqual([2, 4, 4]);
  });

  it('gives nothing to a weight of zero', () => {
    expect(splitByWeights(10, [0, 1, 0])).toEqual([0, 10, 0]);
  });

  it.each([[[]], [[0]], [[0, 0]]])('refuses weights %j', (weights) => {
    expect(() => splitByWeights(1, weights)).toThrow(RangeError);
  });
});

describe('splitWithOneEach', () => {
  it(`leaves nobody without, and adds up exactly (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 1_000; round++) {
      const weights = Array.from({ length: random.int(1, 30) }, () => random.int(1, 100));
      const total = weights.length + random.magnitude(100);
      const shares = splitWithOneEach(total, weights);
      expect(sum(shares)).toBe(total);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
    }
  });

  it('takes from those that have most', () => {
    expect(splitWithOneEach(4, [1, 100, 1])).toEqual([1, 2, 1]);
    expect(() => splitWithOneEach(2, [1, 1, 1])).toThrow(RangeError);
  });
});

describe('dealByWeights', () => {
  it('lets equal shards take turns', () => {
    expect(dealByWeights([10, 10, 10])).toEqual({ round: 3, lanes: [[0], [1], [2]] });
    expect(dealByWeights([7])).toEqual({ round: 1, lanes: [[0]] });
  });

  it('spreads the numbers of each shard over the round', () => {
    expect(dealByWeights([30, 10])).toEqual({ round: 4, lanes: [[0, 1, 3], [2]] });
    expect(dealByWeights([5, 10])).toEqual({ round: 3, lanes: [[1], [0, 2]] });
  });

  it(`deals every number once, as often as the weight says, evenly (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 500; round++) {
      const weights = Array.from({ length: random.int(1, 20) }, () => random.int(1, 100));
      const deal = dealByWeights(weights);
      const all = deal.lanes.flat().toSorted((a, b) => a - b);
      expect(all).toEqual(Array.from({ length: deal.round }, (_, i) => i));
      const total = random.magnitude(1_000_000);
      const shares = deal.lanes.map((lanes) => dealtShare(total, lanes, deal.round));
      expect(sum(shares)).toBe(total);
      // Of any beginning of the schedule each shard has its share, off by less than the number of shards.
      const off = shares.map((share, k) => Math.abs(share - (total * (weights[k] ?? 0)) / sum(weights)));
      expect(Math.max(...off)).toBeLessThan(weights.length);
      for (const [k, lanes] of deal.lanes.entries()) {
        expect(lanes.length * sum(weights)).toBe((weights[k] ?? 0) * deal.round);
      }
    }
  });

  it('counts what a shard owns of the first numbers', () => {
    const owned = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((total) => dealtShare(total, [1, 2], 4));
    expect(owned).toEqual([0, 0, 1, 2, 2, 2, 3, 4, 4]);
  });
});
