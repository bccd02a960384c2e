import { parsePlan, splitPlan } from '@broadside/shared';
import { expect, it } from 'vitest';
import { StartBarrier } from '../shard/start-barrier.js';
import { RunLosses } from './run-losses.js';
import type { RunControl, RunParts } from './run-parts.js';
import { RunShards } from './run-shards.js';
import type { RunStart } from './run-start.js';
import { ShardProgress } from './shard-progress.js';

it('names the agent in the failure of a run that one of several refused', () => {
  const parsed = parsePlan({ target: 'http://127.0.0.1/', connections: 2, requests: 10 });
  if (!parsed.ok) throw new Error('the plan of the test is not valid');
  const [first, second] = splitPlan(parsed.plan, 'r', 2).map(
    (shard, i) => new ShardProgress(shard, `id-${i}`, `agent-${i}`),
  );
  if (first === undefined || second === undefined) throw new Error('no shards');
  const failures: string[] = [];
  const parts = {
    shards: new RunShards([first, second]),
    agents: { count: 2 },
    barrier: new StartBarrier({ shardCount: 2, wantsProbe: false }),
    books: { end: () => undefined },
    journal: { saveShard: () => undefined },
  };
  const control = { fail: (reason: string) => failures.push(reason), checkEnd: () => undefined };
  // Only what this test comes by is there.
  const losses = new RunLosses(
    parts as unknown as RunParts,
    control as unknown as RunControl,
    {} as unknown as RunStart,
  );
  losses.refused('id-1', second.attempt, { code: 'NOT_ALLOWED', message: 'not here' });
  expect(failures).toEqual(['agent agent-1: not here']);
});
