import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { interleavedShare } from './interleaved-share.js';
import { type PlanInput, planSchema } from './plan.schema.js';
import { shardSchema } from './shard.schema.js';
import { splitPlan } from './split-plan.js';

function shardsOf(plan: Partial<PlanInput>, count: number) {
  const shards = splitPlan(planSchema.parse({ target: 'http://h/', ...plan }), 'r1', count);
  for (const shard of shards) expect(shardSchema.parse(shard)).toEqual(shardSchema.parse(shard));
  return shards;
}

describe('interleavedShare', () => {
  it(`is how many numbers a shard owns, and adds up for any number of shards (FUZZ_SEED=${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 200; round++) {
      const total = random.int(0, 500);
      const count = random.int(1, 60);
      const owned = Array.from({ length: count }, () => 0);
      for (let i = 0; i < total; i++) owned[i % count] = (owned[i % count] ?? 0) + 1;
      expect(owned.map((_, index) => interleavedShare(total, index, count))).toEqual(owned);
    }
  });
});

describe('shards of a schedule', () => {
  it('carry the whole rate, and take turns in its requests', () => {
    const shards = shardsOf({ rate: 1, requests: 30, connections: 8 }, 8);
    expect(shards.map((shard) => shard.requests)).toEqual([4, 4, 4, 4, 4, 4, 3, 3]);
    expect(shards.map(({ pacing }) => [pacing?.rate, pacing?.firstIndex, pacing?.stride])).toEqual(
      shards.map((_, k) => [1, k, 8]),
    );
  });

  it('may have no request, when there are fewer than shards', () => {
    expect(shardsOf({ rate: 5, requests: 3, connections: 10 }, 4).map((shard) => shard.requests)).toEqual([
      1, 1, 1, 0,
    ]);
  });

  it('carry stages, seed, warm-up, pipeline and retry', () => {
    const stages = [{ duration: '10s', rate: 100 }];
    const plan = {
      stages,
      rate: 5,
      arrivals: 'poisson',
      seed: 9,
      warmup: '2s',
      pipeline: 3,
      retryIdempotent: true,
    } as const;
    expect(shardsOf(plan, 2)[1]).toMatchObject({
      pacing: {
        arrivals: 'poisson',
        seed: 9,
        rate: 5,
        stages: [{ durationMs: 10_000, rate: 100 }],
        firstIndex: 1,
      },
      warmupMs: 2_000,
      pipeline: 3,
      retryIdempotent: true,
      durationMs: 10_000,
    });
  });

  it('own every n-th connection of stages of connections', () => {
    const shards = shardsOf({ stages: [{ duration: '10s', connections: 8 }] }, 3);
    expect(shards.map((shard) => shard.connections)).toEqual([3, 3, 2]);
    expect(shards[0]?.connectionStages).toEqual([{ durationMs: 10_000, connections: 8 }]);
    expect(shards[0]?.pacing).toBeUndefined();
  });

  it('of a closed load carry nothing of it', () => {
    const [shard] = shardsOf({}, 1);
    for (const field of ['pacing', 'connectionStages', 'warmupMs', 'pipeline', 'retryIdempotent']) {
      expect(shard).not.toHaveProperty(field);
    }
  });
});

describe('a plan with a load', () => {
  it('parses to itself', () => {
    for (const more of [
      { rate: 0.5, warmup: '3s', arrivals: 'poisson', seed: 0 },
      {
        stages: [
          { duration: '1s', rate: 5 },
          { durationMs: 500, rate: 0 },
        ],
      },
      {
        stages: [
          { duration: '1s', connections: 5 },
          { durationMs: 500, connections: 0 },
        ],
      },
    ]) {
      const plan = planSchema.parse({ target: 'http://h/', ...more });
      expect(planSchema.parse(plan)).toEqual(plan);
    }
  });
});
