import { parsePlan, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { RunRests } from './run-rests.js';
import { ShardProgress } from './shard-progress.js';

describe('the rest of an attempt whose load had not begun yet', () => {
  it('begins no sooner than that would have', () => {
    const plan = parsePlan({ target: 'http://127.0.0.1:9/', connections: 4, rate: 100, duration: '10s' });
    const [shard] = plan.ok ? splitPlan(plan.plan, 'r', 1) : [];
    if (shard === undefined) throw new Error('no shard');
    const lost = new ShardProgress(shard, 'a', 'a');
    lost.hasBegun = true;
    [lost.startSlice, lost.fromMs] = [2, 5_400];
    const rests = new RunRests();
    rests.lose(lost, { cause: 'lost', noticedAtMs: 4_000, isWanted: true });
    const taker = rests.place({ agentId: 'b', agentName: 'b' }, 4_000);
    if (taker === undefined) throw new Error('nobody takes it over');
    expect(taker.startSlice).toBe(4);
    expect(rests.notBeforeMs(taker)).toBe(5_400);
  });
});
