import { parsePlan, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { StartBarrier } from '../shard/start-barrier.js';
import { NamedTimers } from './named-timers.js';
import { RunOrders } from './run-orders.js';
import type { RunControl, RunParts } from './run-parts.js';
import { RunShards } from './run-shards.js';
import { RunStart } from './run-start.js';
import { ShardProgress } from './shard-progress.js';

describe('a shard that is replaced while the probe is under way', () => {
  it('does not end the time that the probe has when it is ready', () => {
    const parsed = parsePlan({ target: 'http://127.0.0.1/', connections: 2, requests: 10, probe: true });
    if (!parsed.ok) throw new Error('the plan of the test is not valid');
    const first = splitPlan(parsed.plan, 'r', 2).map((shard) => new ShardProgress(shard, 'a', 'a'));
    const shards = new RunShards(first);
    const barrier = new StartBarrier({ shardCount: 2, wantsProbe: true });
    const timers = new NamedTimers({ after: () => () => undefined });
    const parts = {
      head: { plan: parsed.plan },
      agents: { warn: () => undefined },
      orders: new RunOrders(barrier),
      shards,
      barrier,
      timers,
    };
    // Only what this test comes by is there.
    const start = new RunStart(
      parts as unknown as RunParts,
      { sayOrder: () => undefined } as unknown as RunControl,
    );
    start.awaitReady();
    for (const { attempt } of first) start.ready('a', attempt, []);
    expect([timers.isArmed('ready'), timers.isArmed('probe')]).toEqual([false, true]);
    const [, lost] = first;
    if (lost === undefined) throw new Error('no shard');
    lost.isFenced = true;
    barrier.lost(1);
    const again = new ShardProgress({ ...lost.shard, attempt: 2 }, 'a', 'a', 1);
    shards.add(again);
    start.awaitReady();
    start.ready('a', again.attempt, []);
    expect([timers.isArmed('ready'), timers.isArmed('probe')]).toEqual([false, true]);
  });
});
