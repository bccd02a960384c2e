import { describe, expect, it } from 'vitest';
import { backoffMs, refusedDelayMs } from './backoff.js';

describe('backoffMs', () => {
  it('doubles from 100 ms to 5 s and takes a random half off', () => {
    const longest = [0, 1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffMs(failures, () => 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
    const shortest = [0, 1, 1_000].map((failures) => backoffMs(failures, () => 0));
    expect(shortest).toEqual([50, 100, 2_500]);
  });
});

describe('refusedDelayMs', () => {
  it('is about a minute, a random quarter off', () => {
    expect([refusedDelayMs(() => 0), refusedDelayMs(() => 1)]).toEqual([45_000, 60_000]);
  });
});
