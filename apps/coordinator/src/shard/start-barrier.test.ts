import { describe, expect, it } from 'vitest';
import { laterSlice, StartBarrier, startInstantUs, stopInstantUs } from './start-barrier.js';

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

describe('a probe that an earlier coordinator had asked for', () => {
  it('counts when its slot is known, and is not asked for again', () => {
    const barrier = new StartBarrier({ shardCount: 2, wantsProbe: true });
    barrier.ready(0);
    expect(barrier.probed()).toBe('wait');
    expect(barrier.ready(1)).toBe('start');
  });
});

describe('a shard that is lost before the start', () => {
  it('is waited for again', () => {
    const barrier = new StartBarrier({ shardCount: 2, wantsProbe: false });
    barrier.ready(0);
    barrier.lost(0);
    expect(barrier.ready(1)).toBe('wait');
    expect(barrier.ready(0)).toBe('start');
  });

  it('has its probe sent again, and holds up the start after the probe of another', () => {
    const first = new StartBarrier({ shardCount: 1, wantsProbe: true });
    first.ready(0);
    first.lost(0);
    expect(first.probed()).toBe('wait');
    expect(first.ready(0)).toBe('probe');
    expect(first.probed()).toBe('start');
    const second = new StartBarrier({ shardCount: 2, wantsProbe: true });
    second.ready(0);
    second.ready(1);
    second.lost(1);
    expect(second.probed()).toBe('wait');
    expect(second.ready(1)).toBe('start');
  });
});

describe('the slice from which the time of a later attempt counts', () => {
  it('is the one that is going on, but never the first of the run', () => {
    expect([-300, 0, 999, 1_000, 2_999, 3_000].map(laterSlice)).toEqual([1, 1, 1, 1, 2, 3]);
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

describe('the common end', () => {
  it('is as near as the order can be everywhere, and waits little for a bad clock', () => {
    expect(stopInstantUs(1_000_000, [200, 5_000])).toBe(1_105_000);
    expect(stopInstantUs(1_000_000, [1e12])).toBe(1_200_000);
    expect(stopInstantUs(0.5, [])).toBe(100_001);
  });
});
