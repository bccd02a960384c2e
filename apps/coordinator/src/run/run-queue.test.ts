import { type PlanInput, planSchema } from '@broadside/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Waiting } from './admission.js';
import { RunQueue } from './run-queue.js';
import type { RunHead } from './run-services.js';

const room = { agentId: 'a', slots: 2, freeSlots: 2, labels: {} };
const busy = { ...room, freeSlots: 0 };

function runOf(id: string, wish: Partial<PlanInput> = {}): RunHead {
  const plan = planSchema.parse({ target: 'http://h/', requests: 100, connections: 4, ...wish });
  return { id, plan, createdAt: new Date(1_000_000) };
}

describe('the queue of runs', () => {
  let nowMs = 0;
  let timers: { readonly atMs: number; readonly act: () => void }[] = [];
  let changes: [string, Waiting][] = [];
  let ended: [string, string][] = [];
  let queue: RunQueue;

  beforeEach(() => {
    nowMs = 1_000_000;
    timers = [];
    changes = [];
    ended = [];
    queue = new RunQueue({
      whyHeld: () => undefined,
      timers: {
        after: (delayMs, act) => {
          const timer = { atMs: nowMs + delayMs, act };
          timers.push(timer);
          return () => {
            timers = timers.filter((other) => other !== timer);
          };
        },
      },
      nowMs: () => nowMs,
      onChange: (runId, waiting) => changes.push([runId, waiting]),
      onTimeUp: (run, reason) => ended.push([run.id, reason]),
    });
  });

  it('gives out a run once it is stored, and forgets it', () => {
    queue.add(runOf('r1'), false);
    expect(queue.admit([room])).toEqual([]);
    expect(queue.find('r1')).toEqual({ position: 1, reason: 'is being stored' });
    queue.markStored('r1');
    expect(queue.admit([room]).map(({ run, agentIds }) => [run.id, agentIds])).toEqual([['r1', ['a', 'a']]]);
    expect(queue.size).toBe(0);
    expect(queue.find('r1')).toBeUndefined();
    expect(timers).toEqual([]);
  });

  it('tells a change of place or reason once', () => {
    queue.add(runOf('r1'), true);
    queue.add(runOf('r2'), true);
    queue.admit([busy]);
    queue.admit([busy]);
    expect(changes.map(([id, { position }]) => [id, position])).toEqual([
      ['r1', 1],
      ['r2', 2],
    ]);
    queue.remove('r1');
    queue.admit([busy]);
    expect(changes.at(-1)).toEqual([
      'r2',
      { position: 1, reason: 'waits for free slots: wants 1, 0 of 2 are free' },
    ]);
  });

  it('ends a wait at the limit of the plan, or after an hour', () => {
    queue.add(runOf('short', { maxWait: '5m' }), true);
    queue.add(runOf('usual'), true);
    queue.admit([busy]);
    expect(timers.map(({ atMs }) => atMs - nowMs)).toEqual([300_000, 3_600_000]);
    timers[0]?.act();
    expect(ended).toEqual([
      ['short', 'got no slots within 5m 0s: waits for free slots: wants 1, 0 of 2 are free'],
    ]);
  });

  it('counts the time before a restart of the coordinator', () => {
    nowMs += 290_000;
    queue.add(runOf('r1', { maxWait: '5m' }), true);
    expect(timers[0]?.atMs).toBe(1_300_000);
    nowMs += 3_600_000;
    queue.add(runOf('r2'), true);
    expect(timers[1]?.atMs).toBe(nowMs);
  });
});
