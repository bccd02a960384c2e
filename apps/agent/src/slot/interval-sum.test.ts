import {
  COUNTER,
  counterOf,
  decodeInterval,
  decodeTotals,
  encodeInterval,
  ledgerProblems,
  newCounters,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { plainInterval } from '../testing/plain-interval.js';
import { plainShard } from '../testing/plain-shard.js';
import { IntervalSum } from './interval-sum.js';

const shard = plainShard({ warmupMs: 2_000 });

function add(
  sum: IntervalSum,
  number: number,
  counts: Readonly<Record<string, number>>,
  isWarmup = false,
): void {
  const counters = newCounters();
  for (const [name, value] of Object.entries(counts)) counters[COUNTER[name as keyof typeof COUNTER]] = value;
  const interval = plainInterval({ number, counters, ...(isWarmup ? { isWarmup } : {}) });
  sum.add({ number, span: 1, isWarmup, bytes: encodeInterval(interval) });
}

describe('the books of an engine that died', () => {
  it('leave the warm-up out and close what was taken over from it', () => {
    const sum = new IntervalSum();
    add(
      sum,
      0,
      { planned: 500, sent: 500, completed: 490, connectionsAsked: 10, connectionsOpened: 10 },
      true,
    );
    add(sum, 1, { planned: 500, sent: 500, completed: 500 }, true);
    add(sum, 2, { planned: 300, sent: 300, completed: 290, connectionsAsked: 10, connectionsOpened: 10 });
    const { frame, totals } = sum.close(shard);
    const { counters, intervals } = decodeTotals(totals);
    expect(ledgerProblems(counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect(intervals).toBe(4);
    expect(frame?.number).toBe(3);
    expect(frame === undefined ? 0 : counterOf(decodeInterval(frame.bytes).counters, 'notSentFatal')).toBe(
      700,
    );
  });

  it('of one that died in its warm-up hold nothing but the budget', () => {
    const sum = new IntervalSum();
    add(
      sum,
      0,
      { planned: 500, sent: 500, completed: 490, connectionsAsked: 10, connectionsOpened: 10 },
      true,
    );
    const { counters } = decodeTotals(sum.close(shard).totals);
    expect(ledgerProblems(counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect([counterOf(counters, 'sent'), counterOf(counters, 'notSentFatal')]).toEqual([0, 1_000]);
  });

  it('count what was due and waited for a connection as not sent', () => {
    const sum = new IntervalSum();
    add(sum, 0, { planned: 400, sent: 300, notSentNoConnection: 20, completed: 300 });
    const { counters } = decodeTotals(sum.close(shard).totals);
    expect(ledgerProblems(counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect(counterOf(counters, 'notSentFatal')).toBe(680);
  });
});
