import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { DoneWith } from './run-shards.js';
import { ShardProgress } from './shard-progress.js';

function attemptOf(shardIndex: number): ShardProgress {
  const shard: Partial<Shard> = { runId: 'r', shardIndex, attempt: 1 };
  return new ShardProgress(shard as Shard, 'a', 'a');
}

describe('DoneWith', () => {
  it('asks again only from the first attempt on that was not done', () => {
    const attempts = [attemptOf(0), attemptOf(1), attemptOf(2)];
    const done = new Set<ShardProgress>();
    const asked: number[] = [];
    const check = new DoneWith((progress) => {
      asked.push(progress.shard.shardIndex);
      return done.has(progress);
    });
    expect(check.areAll(attempts)).toBe(false);
    for (const attempt of attempts.slice(0, 2)) done.add(attempt);
    expect(check.areAll(attempts)).toBe(false);
    expect(check.areAll(attempts)).toBe(false);
    for (const attempt of attempts) done.add(attempt);
    expect(check.areAll(attempts)).toBe(true);
    expect(asked).toEqual([0, 0, 1, 2, 2, 2]);
  });

  it('is not done any more when a new attempt comes', () => {
    const first = attemptOf(0);
    const done = new Set([first]);
    const check = new DoneWith((progress) => done.has(progress));
    expect(check.areAll([first])).toBe(true);
    expect(check.areAll([first, attemptOf(1)])).toBe(false);
  });
});
