import { describe, expect, it } from 'vitest';
import { parsePlan } from './parse-plan.js';
import { isTimeBound, restOfShard } from './rest-of-shard.js';
import type { Shard } from './shard.schema.js';
import { shardSchema } from './shard.schema.js';
import { splitPlan } from './split-plan.js';

function shardOf(given: Record<string, unknown>, index = 1): Shard {
  const parsed = parsePlan({ target: 'http://127.0.0.1:9/', connections: 6, ...given });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const shard = splitPlan(parsed.plan, 'r', 3)[index];
  if (shard === undefined) throw new Error('no shard');
  return shard;
}

describe('the rest of a shard', () => {
  it('is the requests that nobody has taken up', () => {
    const shard = shardOf({ requests: 300 });
    const rest = restOfShard(shard, { attempt: 2, requests: 37, atMs: 4_000 });
    expect(rest).toEqual({ ...shard, attempt: 2, requests: 37 });
    expect(isTimeBound(shard)).toBe(false);
  });

  it('is nothing when all requests are taken up, or the time is over', () => {
    expect(restOfShard(shardOf({ requests: 300 }), { attempt: 2, requests: 0, atMs: 0 })).toBeUndefined();
    expect(restOfShard(shardOf({ duration: '5s' }), { attempt: 2, atMs: 5_000 })).toBeUndefined();
  });

  it('lasts for the rest of the time at the same rate', () => {
    const shard = shardOf({ duration: '10s', rate: 50 });
    const rest = restOfShard(shard, { attempt: 2, atMs: 4_000 });
    expect(rest).toMatchObject({ durationMs: 6_000, pacing: { rate: 50, firstIndex: 1, stride: 3 } });
    expect(isTimeBound(shard)).toBe(true);
  });

  it('has the probe of a run no second time', () => {
    const shard = shardOf({ requests: 300, probe: true }, 0);
    expect(shard.probe).toBe(true);
    expect(restOfShard(shard, { attempt: 2, requests: 5, atMs: 0 })?.probe).toBe(false);
  });

  it('keeps what is left of a warm-up, and counts the duration from its end', () => {
    const shard = shardOf({ duration: '10s', warmup: '3s' });
    const during = restOfShard(shard, { attempt: 2, atMs: 1_000 });
    expect(during).toMatchObject({ warmupMs: 2_000, durationMs: 10_000 });
    const after = restOfShard(shard, { attempt: 2, atMs: 5_000 });
    expect(after?.warmupMs).toBeUndefined();
    expect(after?.durationMs).toBe(8_000);
  });

  it('goes on with the stages of a rate where they were', () => {
    const stages = [
      { duration: '4s', rate: 100 },
      { duration: '6s', rate: 40 },
    ];
    const rest = restOfShard(shardOf({ stages }), { attempt: 2, atMs: 2_000 });
    expect(rest?.pacing).toMatchObject({
      rate: 50,
      stages: [
        { durationMs: 2_000, rate: 100 },
        { durationMs: 6_000, rate: 40 },
      ],
    });
    const later = restOfShard(shardOf({ stages }), { attempt: 3, atMs: 7_000 });
    expect(later?.pacing).toMatchObject({ rate: 70, stages: [{ durationMs: 3_000, rate: 40 }] });
    expect(later?.durationMs).toBe(3_000);
  });

  it('opens at once the connections that the stages had reached', () => {
    const stages = [
      { duration: '4s', connections: 8 },
      { duration: '4s', connections: 8 },
    ];
    const rest = restOfShard(shardOf({ stages, connections: undefined }), { attempt: 2, atMs: 2_000 });
    expect(rest?.connectionStages).toEqual([
      { durationMs: 1, connections: 4 },
      { durationMs: 2_000, connections: 8 },
      { durationMs: 4_000, connections: 8 },
    ]);
  });

  it('is a shard that an agent accepts', () => {
    for (const given of [{ requests: 300 }, { duration: '9s', rate: 0.5, arrivals: 'poisson' }]) {
      const rest = restOfShard(shardOf(given), { attempt: 2, requests: 3, atMs: 1_000 });
      expect(shardSchema.safeParse(rest).success).toBe(true);
    }
  });
});
