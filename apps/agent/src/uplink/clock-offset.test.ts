import { describe, expect, it } from 'vitest';
import { ClockOffsetEstimator, isAbout } from './clock-offset.js';

describe('ClockOffsetEstimator', () => {
  it('knows nothing before the first round trip', () => {
    expect(new ClockOffsetEstimator().estimate(0)).toBeUndefined();
  });

  it('believes the round trip with the smallest delay, and bounds the error by half of it', () => {
    const estimator = new ClockOffsetEstimator();
    // The coordinator is 5 000 µs ahead; the slow round trips are lopsided.
    estimator.add({ sentUs: 0, coordinatorUs: 5_900, receivedUs: 1_000 });
    estimator.add({ sentUs: 2_000, coordinatorUs: 7_050, receivedUs: 2_100 });
    estimator.add({ sentUs: 3_000, coordinatorUs: 8_010, receivedUs: 4_000 });
    const estimate = estimator.estimate(4_000);
    expect(estimate?.offsetUs).toBe(5_000);
    expect(estimate?.uncertaintyUs).toBeCloseTo(50, 0);
  });

  it('prefers a newer, slower round trip when the fast one is too old to be trusted', () => {
    const estimator = new ClockOffsetEstimator();
    estimator.add({ sentUs: 0, coordinatorUs: 50, receivedUs: 100 });
    const laterUs = 60_000_000;
    estimator.add({ sentUs: laterUs, coordinatorUs: laterUs + 700, receivedUs: laterUs + 400 });
    expect(estimator.estimate(laterUs + 400)?.offsetUs).toBe(500);
  });

  it('ignores a reply that came before its probe, and forgets everything when told', () => {
    const estimator = new ClockOffsetEstimator();
    estimator.add({ sentUs: 10, coordinatorUs: 0, receivedUs: 5 });
    expect(estimator.estimate(10)).toBeUndefined();
    estimator.add({ sentUs: 10, coordinatorUs: 0, receivedUs: 15 });
    estimator.clear();
    expect(estimator.estimate(10)).toBeUndefined();
  });
});

describe('an estimate that was told', () => {
  const told = { offsetUs: 1_000, uncertaintyUs: 100 };

  it.each([
    [{ offsetUs: 1_009, uncertaintyUs: 91 }, true],
    [{ offsetUs: 1_011, uncertaintyUs: 100 }, false],
    [{ offsetUs: 1_000, uncertaintyUs: 111 }, false],
    [{ offsetUs: 1_000, uncertaintyUs: 80 }, false],
  ])('as good as says %o: %s', (estimate, expected) => {
    expect(isAbout(estimate, told)).toBe(expected);
  });

  it('is told at first', () => {
    expect(isAbout(told, undefined)).toBe(false);
  });
});
