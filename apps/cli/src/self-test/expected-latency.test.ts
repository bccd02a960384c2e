import { describe, expect, it } from 'vitest';
import { expectedLatency, percentileOf } from './expected-latency.js';

describe('expected latency', () => {
  it('is the delay when nothing freezes and connections suffice', () => {
    const { correctedUs, rawUs } = expectedLatency({
      requests: 100,
      ratePerS: 1_000,
      connections: 20,
      delayUs: 10_000,
      freezes: [],
    });
    expect(new Set(correctedUs)).toEqual(new Set([10_000]));
    expect(rawUs).toEqual(correctedUs);
  });

  it('shows a freeze of 1 s to every request that was due in it, and hides it from the median of the raw one', () => {
    const { correctedUs, rawUs } = expectedLatency({
      requests: 1_000,
      ratePerS: 100,
      connections: 1,
      delayUs: 0,
      freezes: [{ beginUs: 5_000_000, endUs: 6_000_000 }],
    });
    // Due at 5.00 s, 5.01 s … 5.99 s: 1,000 ms, 990 ms … 10 ms of waiting.
    expect(correctedUs[500]).toBe(1_000_000);
    expect(correctedUs[599]).toBe(10_000);
    expect(correctedUs[600]).toBe(0);
    expect(percentileOf(correctedUs, 99)).toBe(900_000);
    expect(percentileOf(rawUs, 50)).toBe(0);
    // One connection waits for one reply, and everything else is sent when the freeze is over.
    expect(rawUs.filter((us) => us > 0)).toEqual(new Float64Array([1_000_000]));
  });

  it('holds back a reply that was due in the freeze, and starts the delay of a request after it', () => {
    const { rawUs } = expectedLatency({
      requests: 3,
      ratePerS: 100,
      connections: 3,
      delayUs: 8_000,
      freezes: [{ beginUs: 5_000, endUs: 15_000 }],
    });
    expect([...rawUs]).toEqual([15_000, 13_000, 8_000]);
  });

  it('counts the time until a connection is free as corrected, not as raw', () => {
    const { correctedUs, rawUs } = expectedLatency({
      requests: 4,
      ratePerS: 1_000,
      connections: 2,
      delayUs: 5_000,
      freezes: [],
    });
    expect([...rawUs]).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect([...correctedUs]).toEqual([5_000, 5_000, 8_000, 8_000]);
  });
});

describe('percentile', () => {
  it.each([
    [50, 5],
    [90, 9],
    [99, 10],
    [100, 10],
    [0, 1],
  ])('%d of one to ten is %d', (percentile, value) => {
    expect(percentileOf(Float64Array.of(10, 9, 8, 7, 6, 5, 4, 3, 2, 1), percentile)).toBe(value);
  });
});
