import { COUNTER, type Loss, parsePlan, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { lossesWithMissed } from './missed-loads.js';
import { ShardProgress } from './shard-progress.js';

const WHOLE_MS = Number.POSITIVE_INFINITY;

/** Two shards of 500 a second for 8 s; the first was lost after 2 s. */
function lostAfterTwoSeconds(): ShardProgress {
  const parsed = parsePlan({ target: 'http://127.0.0.1:9/', connections: 20, rate: 1_000, duration: '8s' });
  const [shard] = parsed.ok ? splitPlan(parsed.plan, 'r', 2) : [];
  if (shard === undefined) throw new Error('no shard');
  const lost = new ShardProgress(shard, 'two', 'two');
  lost.counted[COUNTER.planned] = 1_000;
  return lost;
}

const loss: Loss = {
  shardIndex: 0,
  attempt: 1,
  agentId: 'two',
  agentName: 'two',
  cause: 'lost',
  coveredToMs: 2_000,
  noticedAtMs: 4_100,
  lostRequests: 0,
  openConnections: 0,
  openingConnections: 0,
  waitingRequests: 0,
  returnedRequests: 0,
  rest: 'dropped',
};

describe('what a loss leaves unsent of a schedule', () => {
  it('is all that was due from its last interval on, where nobody took the rest over', () => {
    const lost = lostAfterTwoSeconds();
    expect(lossesWithMissed([loss], [lost], WHOLE_MS)).toEqual([{ ...loss, missedRequests: 3_000 }]);
    // Somebody stopped the run after five seconds.
    expect(lossesWithMissed([loss], [lost], 5_000)).toEqual([{ ...loss, missedRequests: 1_500 }]);
  });

  it('is what was due until another agent took it over', () => {
    const lost = lostAfterTwoSeconds();
    const taker = new ShardProgress({ ...lost.shard, attempt: 2, durationMs: 1_000 }, 'one', 'one');
    taker.startSlice = 7;
    const takenBy = { attempt: 2, agentId: 'one', agentName: 'one', fromMs: 7_000 };
    const taken: Loss = { ...loss, rest: 'taken', takenBy };
    expect(lossesWithMissed([taken], [lost, taker], WHOLE_MS)).toEqual([{ ...taken, missedRequests: 2_500 }]);
  });

  it('is what was due until the load of that agent began, where that was later than its time', () => {
    const lost = lostAfterTwoSeconds();
    const taker = new ShardProgress({ ...lost.shard, attempt: 2, durationMs: 3_000 }, 'one', 'one');
    taker.startSlice = 5;
    taker.fromMs = 6_300;
    const takenBy = { attempt: 2, agentId: 'one', agentName: 'one', fromMs: 6_300 };
    const taken: Loss = { ...loss, rest: 'taken', takenBy };
    expect(lossesWithMissed([taken], [lost, taker], WHOLE_MS)).toEqual([{ ...taken, missedRequests: 2_150 }]);
  });

  it('stays unsaid where nothing is due by a schedule', () => {
    const { shard, agentId, agentName } = lostAfterTwoSeconds();
    const { pacing: _, ...closed } = shard;
    expect(lossesWithMissed([loss], [new ShardProgress(closed, agentId, agentName)], WHOLE_MS)).toEqual([
      loss,
    ]);
  });
});
