import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { plainShard } from '../testing/plain-shard.js';
import { checkShardFits, loadShareOf } from './check-shard-fits.js';

const shard = plainShard({
  shardCount: 4,
  target: { scheme: 'http', host: '192.0.2.1', port: 80, path: '/' },
});

describe('loadShareOf', () => {
  it('adds up the shards of a machine', () => {
    expect(loadShareOf(shard, [shard, { ...shard, connections: 5 }], 3)).toEqual({
      connections: 25,
      keepAlive: true,
      requests: 3_000,
      durationMs: undefined,
      portSources: 1,
      slots: 3,
      sharesMachine: false,
    });
  });

  it('has no budget of requests when one of them has none', () => {
    const { requests: _, ...timed } = shard;
    expect(loadShareOf(shard, [{ ...timed, durationMs: 1 }], 2).requests).toBeUndefined();
  });

  it('takes the highest rate of the schedule, as far as it is sent from here', () => {
    const pacing = {
      arrivals: 'constant' as const,
      seed: 1,
      rate: 100,
      stages: [{ durationMs: 1_000, rate: 800 }],
      firstIndex: 0,
      stride: 4,
    };
    expect(loadShareOf({ ...shard, pacing }, [], 1).rateHz).toBe(200);
    expect(loadShareOf({ ...shard, pacing }, [{ ...shard, pacing }], 2).rateHz).toBe(400);
  });

  it('knows a target on this machine by its address, and by what the connections really go to', () => {
    const sharesMachine = (given: Partial<Shard>): boolean =>
      loadShareOf({ ...shard, ...given }, [], 1).sharesMachine;
    expect(sharesMachine({ target: { ...shard.target, host: 'localhost' } })).toBe(true);
    expect(sharesMachine({ target: { ...shard.target, host: '127.0.0.1' } })).toBe(true);
    expect(sharesMachine({ connection: { unixSocket: '/run/web.sock' } })).toBe(true);
    expect(sharesMachine({ connection: { proxy: { host: '127.0.0.1', port: 1, connectLines: [] } } })).toBe(
      true,
    );
    expect(sharesMachine({})).toBe(false);
  });

  it('counts local addresses, and no ports where none or unknown ones are used', () => {
    const sources = (connection: Shard['connection']): number =>
      loadShareOf({ ...shard, connection }, [], 1).portSources;
    expect(sources({ bind: ['192.0.2.8', '192.0.2.9'] })).toBe(2);
    expect(sources({ unixSocket: '/run/web.sock' })).toBe(0);
    expect(sources({ addresses: 'spread' })).toBe(0);
    expect(sources({})).toBe(1);
  });
});

describe('checkShardFits', () => {
  it('refuses a shard that no machine can carry, and takes a small one', () => {
    const isLinux = process.platform === 'linux';
    const greedy = { ...shard, connections: 1_000_000 };
    expect(checkShardFits(greedy, [], 1).refusals.length > 0).toBe(isLinux);
    expect(checkShardFits(shard, [], 1).refusals).toEqual([]);
  });
});
