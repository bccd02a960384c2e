import { describe, expect, it } from 'vitest';
import { delayCycleMs } from './known-delays.js';

const SHARES: [number, number][] = [
  [0.9, 10],
  [0.0995, 20],
  [0.0005, 160],
];

describe('known delays', () => {
  it('have each delay exactly as often as its share says', () => {
    const cycle = delayCycleMs({ seed: 1, shares: SHARES });
    const count = (delayMs: number): number => cycle.filter((each) => each === delayMs).length;
    expect([cycle.length, count(10), count(20), count(160)]).toEqual([2_000, 1_800, 199, 1]);
  });

  it('come in the order of their seed', () => {
    const one = delayCycleMs({ seed: 1, shares: SHARES });
    expect(delayCycleMs({ seed: 1, shares: SHARES })).toEqual(one);
    expect(delayCycleMs({ seed: 2, shares: SHARES })).not.toEqual(one);
    // A rare delay in the first or last tenth in every order would be no shuffling.
    expect(one.subarray(0, 200).filter((each) => each === 20).length).toBeGreaterThan(5);
  });

  it('are refused when their shares leave a rest', () => {
    expect(() => delayCycleMs({ seed: 1, shares: [[0.5, 1]] })).toThrow('do not add up to 1');
  });
});
