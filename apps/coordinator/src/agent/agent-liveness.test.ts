import { describe, expect, it } from 'vitest';
import { livenessOf } from './agent-liveness.js';

const limits = { silenceMs: 3_000, graceMs: 2_000 };

describe('liveness of an agent', () => {
  it('lasts as long as something is heard of it', () => {
    expect(livenessOf({ lastHeardMs: 1_000 }, 4_000, limits)).toBe('alive');
  });

  it('ends after too long a silence on an open socket', () => {
    expect(livenessOf({ lastHeardMs: 1_000 }, 4_001, limits)).toBe('lost');
  });

  it('survives a broken socket for the grace, however long ago it was heard', () => {
    expect(livenessOf({ lastHeardMs: 0, closedAtMs: 5_000 }, 7_000, limits)).toBe('away');
    expect(livenessOf({ lastHeardMs: 0, closedAtMs: 5_000 }, 7_001, limits)).toBe('lost');
  });
});
