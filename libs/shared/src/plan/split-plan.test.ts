import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { planSchema } from './plan.schema.js';
import { shardSchema } from './shard.schema.js';
import { splitPlan } from './split-plan.js';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

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
    expect(shards.map((shard) => shard.connections)).toEqual([2, 2, 1, 1, 1]);
    expect(shards.map((shard) => shard.probe)).toEqual([true, false, false, false, false]);
  });

  it(`follows weights exactly, in every kind of load (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 300; round++) {
      const weights = Array.from({ length: random.int(1, 24) }, () => random.int(1, 100));
      const connections = weights.length + random.magnitude(2_000);
      const requests = connections + random.magnitude(1_000_000);
      const load = random.pick([{}, { rate: 1 + random.magnitude(50_000) }]);
      const plan = planSchema.parse({ target: 'http://h/', connections, requests, ...load });
      const shards = splitPlan(plan, 'run', weights);
      expect(sum(shards.map((shard) => shard.connections))).toBe(connections);
      expect(sum(shards.map((shard) => shard.requests ?? 0))).toBe(requests);
      for (const shard of shards) expect(shardSchema.safeParse(shard).success).toBe(true);
      const lanes = shards.flatMap(({ pacing }) =>
        pacing === undefined ? [] : (pacing.lanes ?? [pacing.firstIndex]),
      );
      const stride = shards[0]?.pacing?.stride ?? 0;
      expect(lanes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: stride }, (_, i) => i));
    }
  });

  it('gives a slot of twice the weight twice the load', () => {
    const closed = planSchema.parse({ target: 'http://h/', connections: 30, requests: 3_000 });
    const shares = splitPlan(closed, 'run', [20, 10]).map((shard) => [shard.connections, shard.requests]);
    expect(shares).toEqual([
      [20, 2_000],
      [10, 1_000],
    ]);
    const paced = planSchema.parse({ target: 'http://h/', connections: 30, rate: 300, requests: 3_000 });
    const parts = splitPlan(paced, 'run', [20, 10]).map(({ connections, requests, pacing }) => [
      connections,
      requests,
      pacing?.firstIndex,
      pacing?.stride,
      pacing?.lanes,
    ]);
    expect(parts).toEqual([
      [20, 2_000, 0, 3, [0, 2]],
      [10, 1_000, 1, 3, undefined],
    ]);
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
