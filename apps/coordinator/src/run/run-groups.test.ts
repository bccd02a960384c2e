import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import type { ShardEndings } from '../shard/shard-queue.js';
import { RunGroups } from './run-groups.js';
import type { RunServices } from './run-services.js';
import { ShardProgress } from './shard-progress.js';

function attemptOf(shardIndex: number): ShardProgress {
  const shard: Partial<Shard> = { runId: 'r', shardIndex, attempt: 1 };
  return new ShardProgress(shard as Shard, 'a', 'a');
}

/** A queue that is asked for endings, and answers when it is told to. */
class SlowQueue {
  readonly answers: ((endings: ShardEndings) => void)[] = [];

  endingsSoFar(): Promise<ShardEndings> {
    return new Promise((resolve) => this.answers.push(resolve));
  }
}

function groupsOn(queue: SlowQueue): RunGroups {
  const services = { queue, timers: { after: () => () => undefined } };
  return new RunGroups('r', services as unknown as Pick<RunServices, 'queue' | 'timers'>);
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

describe('how a lost shard ended', () => {
  const failed = { kind: 'failed', reason: 'x' } as const;

  it('is asked once for all that are lost while the queue answers, and after they were', async () => {
    const queue = new SlowQueue();
    const groups = groupsOn(queue);
    const first = groups.endingOf(attemptOf(0));
    await turns();
    const later = [1, 2, 3].map((index) => groups.endingOf(attemptOf(index)));
    await turns();
    expect(queue.answers).toHaveLength(1);
    queue.answers[0]?.(new Map());
    expect(await first).toBeUndefined();
    await turns();
    expect(queue.answers).toHaveLength(2);
    queue.answers[1]?.(new Map([[attemptOf(2).key, failed]]));
    expect(await Promise.all(later)).toEqual([undefined, failed, undefined]);
  });

  it('is asked anew for one that is lost later', async () => {
    const queue = new SlowQueue();
    const groups = groupsOn(queue);
    for (const index of [0, 1]) {
      const asked = groups.endingOf(attemptOf(index));
      await turns();
      queue.answers[index]?.(new Map([[attemptOf(index).key, failed]]));
      expect(await asked).toEqual(failed);
    }
    expect(queue.answers).toHaveLength(2);
  });
});

describe('the groups of a run that has ended', () => {
  /** @returns resolves when they are let go of. */
  function abandonOn(
    abandon: () => Promise<void>,
    timers: Pick<RunServices, 'timers'>['timers'],
  ): Promise<void> {
    const services = { queue: { reopen: () => ({ abandon }) }, timers };
    const groups = new RunGroups('r', services as unknown as Pick<RunServices, 'queue' | 'timers'>);
    groups.reopen(0, [attemptOf(0)]);
    return groups.abandon();
  }

  it('are not waited for when the queue does not answer', async () => {
    const acts: (() => void)[] = [];
    const after = (_delayMs: number, act: () => void): (() => void) => {
      acts.push(act);
      return () => undefined;
    };
    const abandoned = abandonOn(() => new Promise(() => undefined), { after });
    for (const act of acts) act();
    await expect(abandoned).resolves.toBeUndefined();
  });

  it('leave no timer behind', async () => {
    let armed = 0;
    const after = (): (() => void) => {
      armed++;
      return () => armed--;
    };
    await abandonOn(() => Promise.resolve(), { after });
    expect(armed).toBe(0);
  });
});
