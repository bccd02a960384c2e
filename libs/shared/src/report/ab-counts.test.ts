import { describe, expect, it } from 'vitest';
import type { PlanInput } from '../plan/plan.schema.js';
import { balancedCounters, type Seen, sampleReport } from '../testing/observed.js';
import { AB_COUNTINGS, type AbCounting, abCounts } from './ab-counts.js';

function counts(
  counting: AbCounting,
  counters: NonNullable<Seen['counters']>,
  more: Partial<PlanInput> = {},
) {
  const plan = { requests: 20_000, connections: 10, checkLength: true, probe: true, ...more };
  const reused = Array.from({ length: counters.completed ?? 0 }, () => 100).slice(10);
  return abCounts(
    sampleReport({ plan, seen: { counters: balancedCounters(counters), samples: { reused } } }),
    counting,
  );
}

describe('abCounts', () => {
  it('counts a reset once, or in three categories as ab 2.3 does', () => {
    const seen = { completed: 11, resetBeforeFirstByte: 9, keepAliveReplies: 11 };
    expect(counts('once', seen)).toMatchObject({
      complete: 20,
      failed: 9,
      receive: 9,
      length: 0,
      exceptions: 0,
    });
    expect(counts('classic', seen)).toMatchObject({
      complete: 20,
      failed: 27,
      receive: 9,
      length: 9,
      exceptions: 9,
    });
    expect(counts('trunk', seen)).toMatchObject({ complete: 20, failed: 9, receive: 9, length: 0 });
  });

  it('counts closes of reused connections as Length, or as aborts that are no failures in trunk', () => {
    const seen = { completed: 990, closedWithoutReplyReused: 9, keepAliveReplies: 990 };
    expect(counts('once', seen)).toMatchObject({ complete: 999, failed: 9, length: 9, keepAliveAborts: 9 });
    expect(counts('classic', seen)).toMatchObject({
      complete: 999,
      failed: 9,
      length: 9,
      keepAliveAborts: 0,
    });
    expect(counts('trunk', seen)).toMatchObject({ complete: 990, failed: 0, length: 0, keepAliveAborts: 9 });
    const retried = { completed: 1_000, retried: 9, keepAliveReplies: 1_000 };
    expect(counts('trunk', retried)).toMatchObject({ complete: 1_000, failed: 0, keepAliveAborts: 9 });
  });

  it('counts keep-alive requests as replies that kept it, or as requests that used it in trunk', () => {
    const seen = { completed: 1_000, keepAliveReplies: 1_000 };
    expect(AB_COUNTINGS.map((counting) => counts(counting, seen).keepAlive)).toEqual([1_000, 1_000, 990]);
  });

  it('has no Length failures in classic with -l, and none for nothing where the reference is empty', () => {
    const seen = { completed: 5, closedWithoutReplyNew: 15, lengthDiffers: 2, truncated: 1 };
    expect(counts('classic', seen, { checkLength: false })).toMatchObject({ failed: 0, length: 0 });
    const report = sampleReport({
      plan: { requests: 20, checkLength: true, probe: true },
      seen: { counters: balancedCounters({ completed: 5, closedWithoutReplyNew: 15 }) },
      input: { referenceBytes: 0 },
    });
    expect(abCounts(report, 'classic')).toMatchObject({ complete: 20, failed: 0 });
    expect(abCounts(report, 'once')).toMatchObject({ complete: 20, failed: 15, length: 15 });
  });

  it('takes nothing for as long as the reference in classic, where no reply was ever whole', () => {
    const resets = counts('classic', { resetBeforeFirstByte: 20 });
    expect(resets).toMatchObject({ complete: 20, failed: 40, receive: 20, length: 0, exceptions: 20 });
    expect(counts('classic', { closedWithoutReplyNew: 20 })).toMatchObject({ complete: 20, failed: 0 });
    expect(counts('classic', { resetAfterFirstByte: 20 })).toMatchObject({ failed: 60, length: 20 });
  });

  it('does not take lengths that differ for failures in trunk, where the categories may add up to less', () => {
    const seen = { completed: 80, lengthDiffers: 10, truncated: 10 };
    const trunk = counts('trunk', seen);
    expect(trunk).toMatchObject({
      complete: 100,
      failed: 10,
      length: 0,
      connect: 0,
      receive: 0,
      exceptions: 0,
    });
  });

  it('does not complete what never had a connection', () => {
    for (const counting of AB_COUNTINGS) {
      expect(counts(counting, { completed: 5, connectRefused: 3 })).toMatchObject({
        complete: 5,
        failed: 3,
        connect: 3,
      });
    }
  });
});
