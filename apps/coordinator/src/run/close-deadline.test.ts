import { LIMITS } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { closesInMs } from './close-deadline.js';

describe('the deadline of a run whose load has ended', () => {
  it('is counted from the end of the load, and from each interval that comes later', () => {
    expect(closesInMs({ beganAtMs: 5_000, heardAtMs: 1_000 }, 5_000)).toBe(LIMITS.closeTimeoutMs);
    expect(closesInMs({ beganAtMs: 5_000, heardAtMs: 9_000 }, 10_000)).toBe(LIMITS.closeTimeoutMs - 1_000);
    expect(closesInMs({ beganAtMs: 0, heardAtMs: 0 }, LIMITS.closeTimeoutMs)).toBe(0);
  });

  it('comes in any case', () => {
    const beganAtMs = 5_000;
    const latestMs = beganAtMs + LIMITS.maxCloseMs;
    expect(closesInMs({ beganAtMs, heardAtMs: latestMs - 1 }, latestMs - 1)).toBe(1);
    expect(closesInMs({ beganAtMs, heardAtMs: latestMs }, latestMs)).toBe(0);
  });
});
