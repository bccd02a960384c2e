import { describe, expect, it } from 'vitest';
import { assignShards, shardCountFor } from './shard-planner.js';

describe('the number of shards', () => {
  it('is what the plan insists on', () => {
    expect(shardCountFor({ slots: 3, connections: 10 }, 8)).toBe(3);
  });

  it('is otherwise every free slot, at most one per connection', () => {
    expect(shardCountFor({ connections: 10 }, 8)).toBe(8);
    expect(shardCountFor({ connections: 2 }, 8)).toBe(2);
  });
});

describe('the assignment of shards', () => {
  it('gives every agent one shard before any agent gets two', () => {
    const offers = [
      { agentId: 'a', freeSlots: 4 },
      { agentId: 'b', freeSlots: 1 },
      { agentId: 'c', freeSlots: 4 },
    ];
    expect(assignShards(5, offers)).toEqual(['a', 'b', 'c', 'a', 'c']);
  });

  it('skips agents without a free slot', () => {
    const offers = [
      { agentId: 'a', freeSlots: 0 },
      { agentId: 'b', freeSlots: 2 },
    ];
    expect(assignShards(2, offers)).toEqual(['b', 'b']);
  });

  it('is refused as a whole when the free slots do not suffice', () => {
    expect(assignShards(3, [{ agentId: 'a', freeSlots: 2 }])).toBeUndefined();
    expect(assignShards(1, [])).toBeUndefined();
  });

  it('never gives an agent more than its free slots, whatever the numbers', () => {
    const seed = Math.floor(Math.random() * 1e9);
    let state = seed;
    const next = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 200; round++) {
      const offers = Array.from({ length: 1 + next(8) }, (_, i) => ({
        agentId: `a${i}`,
        freeSlots: next(5),
      }));
      const all = offers.reduce((sum, offer) => sum + offer.freeSlots, 0);
      const wanted = 1 + next(12);
      const assigned = assignShards(wanted, offers);
      expect(assigned === undefined, `seed ${seed}`).toBe(wanted > all);
      const counts = offers.map((offer) => assigned?.filter((id) => id === offer.agentId).length ?? 0);
      for (const [i, offer] of offers.entries()) {
        expect(counts[i], `seed ${seed}`).toBeLessThanOrEqual(offer.freeSlots);
      }
      if (assigned === undefined) continue;
      const most = Math.max(...counts);
      for (const [i, offer] of offers.entries()) {
        // Whoever has fewer than the others has no room for one more.
        if ((counts[i] ?? 0) < most - 1) expect(counts[i], `seed ${seed}`).toBe(offer.freeSlots);
      }
    }
  });
});
