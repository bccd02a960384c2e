import { describe, expect, it } from 'vitest';
import { exactly, mayBeStalled, outcomeOf, type Stalls, type TimedClaim, timed } from './finding.js';

const CALM: Stalls = { perRequestUs: 5, share: 0 };
const BUSY: Stalls = { perRequestUs: 500, share: 0.2 };
const CLAIM: TimedClaim = {
  scenario: 'delays',
  what: 'latency p50',
  unit: 'µs',
  claimed: 10_000,
  measured: 10_000,
  allowed: 150,
  percentile: 50,
  stalls: CALM,
};

describe('a count', () => {
  it('is exact or wrong', () => {
    expect(exactly('s', 'w', 3, 3).outcome).toBe('ok');
    expect(exactly('s', 'w', 3, 4).outcome).toBe('wrong');
  });
});

describe('a time', () => {
  it.each([
    [10_150, CALM, 'ok'],
    [10_151, CALM, 'wrong'],
    [9_849, CALM, 'wrong'],
    [10_151, BUSY, 'unclear'],
    [9_849, BUSY, 'unclear'],
    [10_151, undefined, 'unclear'],
    [10_150, BUSY, 'ok'],
  ])('of %d µs instead of 10,000, with stalls %j, is %s', (measured, stalls, outcome) => {
    expect(timed({ ...CLAIM, measured, stalls }).outcome).toBe(outcome);
  });

  it('that no stall can explain is wrong on a busy machine too', () => {
    const tooShort = { ...CLAIM, measured: 9_849, stalls: BUSY, isNeverBelow: true };
    expect(timed(tooShort).outcome).toBe('wrong');
    expect(timed({ ...tooShort, measured: 10_151 }).outcome).toBe('unclear');
  });

  it('may be further off to one side', () => {
    expect(timed({ ...CLAIM, measured: 10_400, allowed: 400, allowedBelow: 50 }).outcome).toBe('ok');
    expect(timed({ ...CLAIM, measured: 9_900, allowed: 400, allowedBelow: 50 }).outcome).toBe('wrong');
  });
});

describe('stalls', () => {
  it('excuse a high percentile sooner than the median', () => {
    const stalls = { perRequestUs: 5, share: 0.001 };
    expect([50, 99, 99.9, 99.99].map((percentile) => mayBeStalled(stalls, percentile))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('the outcome of all', () => {
  const [ok, wrong, unclear] = [
    exactly('s', 'w', 1, 1),
    exactly('s', 'w', 1, 2),
    timed({ ...CLAIM, measured: 20_000, stalls: BUSY }),
  ];
  it('is the worst of them, and wrong is worse than unclear', () => {
    expect(outcomeOf([ok, ok])).toBe('ok');
    expect(outcomeOf([ok, unclear])).toBe('unclear');
    expect(outcomeOf([unclear, wrong, ok])).toBe('wrong');
  });
});
