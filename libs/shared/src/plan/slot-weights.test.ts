import { describe, expect, it } from 'vitest';
import { slotWeights } from './slot-weights.js';

describe('the weights of slots', () => {
  it('follow what was measured, compared with the median', () => {
    expect(slotWeights([{ capacityHz: 100_000 }, { capacityHz: 200_000 }, { capacityHz: 50_000 }])).toEqual([
      10, 20, 5,
    ]);
    expect(slotWeights([{ capacityHz: 100_000 }, { capacityHz: 300_000 }])).toEqual([5, 15]);
  });

  it('are equal where the measurements differ by no more than noise', () => {
    const weightsOf = (...capacities: readonly number[]): number[] =>
      slotWeights(capacities.map((capacityHz) => ({ capacityHz })));
    expect(weightsOf(100_000, 104_000, 96_500)).toEqual([10, 10, 10]);
    expect(weightsOf(100_000, 125_000, 75_000)).toEqual([10, 10, 10]);
    expect(weightsOf(100_000, 126_000, 74_000)).toEqual([10, 13, 7]);
    // Two are compared with what lies between them.
    expect(weightsOf(75_743, 120_558)).toEqual([10, 10]);
    expect(weightsOf(50_000, 100_000)).toEqual([7, 13]);
  });

  it('take a slot that was not measured for a usual one', () => {
    expect(slotWeights([{}, { capacityHz: 40 }, { capacityHz: 20 }, { capacityHz: 30 }])).toEqual([
      10, 13, 7, 10,
    ]);
    expect(slotWeights([{}, {}])).toEqual([10, 10]);
  });

  it('are what somebody gave by hand', () => {
    expect(slotWeights([{ weight: 2.5 }, {}, { weight: 1 }])).toEqual([25, 10, 10]);
    expect(slotWeights([{ weight: 2, capacityHz: 1 }, { capacityHz: 500 }, { capacityHz: 500 }])).toEqual([
      20, 10, 10,
    ]);
  });

  it('are never nothing, and never beyond ten usual slots', () => {
    expect(slotWeights([{ weight: 0.001 }, { weight: 1e9 }, { capacityHz: 0 }])).toEqual([1, 100, 10]);
    expect(slotWeights([])).toEqual([]);
  });
});
