import { describe, expect, it } from 'vitest';
import { StartBarrier, startInstantUs } from './start-barrier.js';

describe('the start barrier', () => {
  it('opens once, when the last shard is ready', () => {
    const barrier = new StartBarrier({ shardCount: 2, wantsProbe: false });
    expect(barrier.ready(1)).toBe('wait');
    expect(barrier.ready(1)).toBe('wait');
    expect(barrier.missing()).toEqual([0]);
    expect(barrier.ready(0)).toBe('start');
    expect(barrier.isOpen).toBe(true);
    expect(barrier.ready(0)).toBe('wait');
  });

  it('has the probe sent before it opens', () => {
    const barrier = new StartBarrier({ shardCount: 1, wantsProbe: true });
    expect(barrier.probed()).toBe('wait');
    expect(barrier.ready(0)).toBe('probe');
    expect(barrier.isOpen).toBe(false);
    expect(barrier.probed()).toBe('start');
    expect(barrier.probed()).toBe('wait');
  });
});

describe('the start instant', () => {
  it('lies the delay and the largest clock uncertainty ahead', () => {
    expect(startInstantUs(1_000_000, 100, [200, 5_000])).toBe(1_105_000);
    expect(startInstantUs(1_000_000, 100, [])).toBe(1_100_000);
  });

  it('does not follow an agent whose clock is uncertain beyond reason', () => {
    expect(startInstantUs(0, 100, [1e12])).toBe(1_100_000);
  });
});
