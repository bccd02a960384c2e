import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { planSchema } from './plan.schema.js';
import { shardSchema } from './shard.schema.js';
import { splitByWeights, splitPlan } from './split-plan.js';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('splitByWeights', () => {
  it(`gives shares that add up exactly and are less than one off, whatever the weights (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 2_000; round++) {
      const weights = Array.from({ length: random.int(1, 40) }, () => random.magnitude(1_000_000));
      weights[0] = (weights[0] ?? 0) + 1;
      const total = random.magnitude(LIMITS.maxRequests);
      const shares = splitByWeights(total, weights);
      expect(sum(shares)).toBe(total);
      const allWeights = sum(weights);
      for (const [i, share] of shares.entries()) {
        expect(Math.abs(share - (total * (weights[i] ?? 0)) / allWeights)).toBeLessThan(1.001);
      }
    }
  });

  it('gives nothing to a weight of zero', () => {
    expect(splitByWeights(10, [0, 1, 0])).toEqual([0, 10, 0]);
  });

  it.each([[[]], [[0]], [[0, 0]]])('refuses weights %j', (weights) => {
    expect(() => splitByWeights(1, weights)).toThrow(RangeError);
  });
});

describe('splitPlan', () => {
  it(`cuts requests and connections exactly, with a request for each connection (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 300; round++) {
      const connections = random.magnitude(999) + 1;
      const requests = connections + random.magnitude(1_000_000);
      const n = random.int(1, Math.min(connections, 64));
      const plan = planSchema.parse({ target: 'http://h/', connections, requests });
      const shards = splitPlan(plan, 'run', n);
      expect(shards).toHaveLength(n);
      expect(sum(shards.map((shard) => shard.connections))).toBe(connections);
      expect(sum(shards.map((shard) => shard.requests ?? 0))).toBe(requests);
      for (const shard of shards) {
        expect(shard.connections).toBeGreaterThanOrEqual(1);
        expect(shard.requests).toBeGreaterThanOrEqual(shard.connections);
      }
    }
  });

  it('cuts 100003 requests on 7 connections over 5 slots', () => {
    const plan = planSchema.parse({ target: 'http://h/', connections: 7, requests: 100_003, probe: true });
    const shards = splitPlan(plan, 'run', 5);
    expect(sum(shards.map((shard) => shard.requests ?? 0))).toBe(100_003);
    expect(shards.map((shard) => shard.connections)).toEqual([1, 1, 2, 1, 2]);
    expect(shards.map((shard) => shard.probe)).toEqual([true, false, false, false, false]);
  });

  it('makes shards that pass their own schema, complete for an engine', () => {
    const plan = planSchema.parse({ target: 'http://h:81/x', body: 'ä', method: 'POST', duration: '5s' });
    for (const shard of splitPlan(plan, 'run', 3)) {
      const arrived: unknown = JSON.parse(JSON.stringify(shard));
      expect(shardSchema.parse(arrived)).toEqual(arrived);
      expect(shard.durationMs).toBe(5_000);
      expect(shard.requests).toBeUndefined();
      expect(shard.request.headerLines).toContain('Content-Length: 2');
    }
  });

  it.each([0, -1, 1.5, 11, Number.NaN])('refuses to cut 10 connections into %s shards', (n) => {
    const plan = planSchema.parse({ target: 'http://h/', connections: 10 });
    expect(() => splitPlan(plan, 'run', n)).toThrow(RangeError);
  });
});
