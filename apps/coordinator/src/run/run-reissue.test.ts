import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type ReissueParts, RunReissue } from './run-reissue.js';
import { ShardProgress } from './shard-progress.js';

/** Loses an attempt. @returns what the journal was told to wait for. */
function lose(canResume: boolean, arrived: Promise<void>): Promise<void>[] {
  const awaited: Promise<void>[] = [];
  const parts = {
    services: { canResume },
    orders: { startAtUs: undefined },
    books: { settled: () => arrived },
    journal: { storeAfter: (done: Promise<void>) => awaited.push(done) },
    timers: { arm: () => undefined },
  };
  const shard: Partial<Shard> = { runId: 'r', shardIndex: 0, attempt: 1, requests: 10 };
  // Nobody is to take over, so nothing else is asked for.
  const reissue = new RunReissue(parts as unknown as ReissueParts);
  reissue.lose(new ShardProgress(shard as Shard, 'a', 'a'), 'lost', { isWanted: false });
  expect(reissue.rests.losses).toMatchObject([{ restRequests: 10, rest: 'dropped' }]);
  return awaited;
}

describe('the loss of an attempt', () => {
  it('is stored after the intervals that it was reckoned from', () => {
    const arrived = Promise.resolve();
    expect(lose(true, arrived)).toEqual([arrived]);
  });

  it('waits for nothing where no coordinator could go on with the run', () => {
    expect(lose(false, Promise.resolve())).toEqual([]);
  });
});
