import { parsePlan, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { StartBarrier } from '../shard/start-barrier.js';
import { RunOrders } from './run-orders.js';
import { ShardProgress } from './shard-progress.js';

function setUp(): { barrier: StartBarrier; orders: RunOrders; shards: ShardProgress[] } {
  const parsed = parsePlan({ target: 'http://127.0.0.1/', requests: 10, connections: 2, probe: true });
  if (!parsed.ok) throw new Error('the plan of the test is not valid');
  const shards = splitPlan(parsed.plan, 'r', 2).map((shard) => new ShardProgress(shard, 'a', 'agent-a'));
  const barrier = new StartBarrier({ shardCount: 2, wantsProbe: true });
  return { barrier, orders: new RunOrders(barrier), shards };
}

describe('the order for a shard', () => {
  it('is none until all are ready, then the probe for the one that sends it', () => {
    const { barrier, orders, shards } = setUp();
    const kinds = (): (string | undefined)[] => shards.map((progress) => orders.orderFor(progress)?.kind);
    barrier.ready(0);
    expect(kinds()).toEqual([undefined, undefined]);
    barrier.ready(1);
    expect(kinds()).toEqual(['probe', undefined]);
  });

  it('is the same start for all, and the same again', () => {
    const { orders, shards } = setUp();
    orders.setReference(42);
    orders.start(1_000);
    for (const progress of [...shards, ...shards]) {
      progress.hasBegun = true;
      expect(orders.orderFor(progress)).toEqual({
        kind: 'start',
        shard: progress.attempt,
        startAtUs: 1_000,
        referenceBytes: 42,
      });
    }
  });

  it('says when a rest begins that is taken up in the middle of a slice', () => {
    const { orders, shards } = setUp();
    orders.start(1_000);
    const [late] = shards;
    if (late === undefined) throw new Error('no shard');
    late.startSlice = 3;
    // Its agent is back before it is named when it begins.
    expect(orders.orderFor(late)).toBeUndefined();
    [late.fromMs, late.hasBegun] = [3_450, true];
    const order = { kind: 'start', startAtUs: 3_001_000, fromUs: 3_451_000 };
    expect(orders.orderFor(late)).toMatchObject(order);
  });

  it('is to stop at one instant where one is named, after a restart too', () => {
    const { barrier, orders, shards } = setUp();
    orders.start(1_000);
    orders.stop('enough', 5_000);
    orders.stop('later', 9_000);
    const again = new RunOrders(barrier);
    again.restore(orders.notes);
    for (const each of [orders, again])
      for (const progress of shards) {
        expect(each.orderFor(progress)).toMatchObject({ kind: 'stop', reason: 'enough', stopAtUs: 5_000 });
      }
  });

  it('is to stop from the first stop on, whatever came before', () => {
    const { orders, shards } = setUp();
    orders.start(1_000);
    orders.stop('first');
    orders.stop('second');
    for (const progress of shards)
      expect(orders.orderFor(progress)).toMatchObject({ kind: 'stop', reason: 'first' });
  });
});
