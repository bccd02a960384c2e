import { describe, expect, it } from 'vitest';
import { isProbeDue } from './probe-due.js';

const S = 1_000_000;

describe('isProbeDue', () => {
  it('asks a quiet coordinator for a sign of life', () => {
    expect(isProbeDue(10 * S, { heardAtUs: 8 * S, probedAtUs: 8 * S })).toBe(true);
    // No reply to the newest probe either.
    expect(isProbeDue(10 * S, { heardAtUs: 4 * S, probedAtUs: 8 * S })).toBe(true);
  });

  it('leaves one alone that has just acknowledged a frame', () => {
    expect(isProbeDue(10 * S, { heardAtUs: 9 * S, probedAtUs: 6 * S })).toBe(false);
  });

  it('asks it all the same before the clocks have drifted', () => {
    expect(isProbeDue(10 * S, { heardAtUs: 10 * S, probedAtUs: 4 * S })).toBe(true);
    expect(isProbeDue(10 * S, { heardAtUs: 10 * S, probedAtUs: 4 * S + 1 })).toBe(false);
  });
});
