import {
  COUNTER,
  encodeTotals,
  FAILURE_CLASSES,
  type FailureClass,
  type Fatal,
  GAUGE_NAMES,
  type Interval,
  newCounters,
  type Plan,
  parsePlan,
  type ShardTotals,
  splitPlan,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { RunRests } from './run-rests.js';
import { earlyEnd, endedEarly, hasFatalEnd, isSocketError, takeEnding } from './shard-ending.js';
import { namesOf, ShardProgress } from './shard-progress.js';

function planOf(given: object): Plan {
  const parsed = parsePlan({ target: 'http://127.0.0.1/', ...given });
  if (!parsed.ok) throw new Error('the plan of the test is not valid');
  return parsed.plan;
}

function progressOf(shardIndex = 0): ShardProgress {
  const shard = splitPlan(planOf({ requests: 10, connections: 4 }), 'r', 4)[shardIndex];
  if (shard === undefined) throw new Error('no such shard');
  return new ShardProgress(shard, 'a', 'agent-a');
}

const observed = {
  counters: newCounters(),
  statusCounts: new Map<number, number>(),
  histograms: [],
  gauges: new Float64Array(GAUGE_NAMES.length),
};

function lastInterval(number: number, counts: Partial<Record<keyof typeof COUNTER, number>> = {}): Interval {
  const counters = newCounters();
  for (const [name, count] of Object.entries(counts)) counters[COUNTER[name as keyof typeof COUNTER]] = count;
  return { runId: 'r', shardIndex: 0, attempt: 1, number, span: 1, isLast: true, ...observed, counters };
}

describe('the ending of a shard', () => {
  it('takes the totals of a result', () => {
    const progress = progressOf();
    const totals: ShardTotals = { ...progress.attempt, intervals: 2, ...observed };
    const result = {
      ...progress.attempt,
      totals: Buffer.from(encodeTotals(totals)).toString('base64'),
      addresses: [],
      startSkewUs: 0,
      transport: 'socket',
    };
    takeEnding(progress, { kind: 'result', result }, false);
    expect(progress.totals?.intervals).toBe(2);
    expect(progress.hasEnded).toBe(true);
    expect(progress.change.state).toBe('finished');
  });

  it('does not believe totals that are no frame', () => {
    const progress = progressOf();
    const result = {
      ...progress.attempt,
      totals: 'AAAA',
      addresses: [],
      startSkewUs: 0,
      transport: 'socket',
    };
    takeEnding(progress, { kind: 'result', result }, false);
    expect(progress.failure).toContain('its totals cannot be read');
    expect(progress.change.state).toBe('failed');
  });

  it('is no failure of a shard that was called off before it began', () => {
    const progress = progressOf();
    takeEnding(progress, { kind: 'failed', reason: 'called off' }, true);
    expect(progress.failure).toBeUndefined();
    expect(progress.didNothing).toBe(true);
  });

  it('is a failure without a result, with the reason of the queue', () => {
    const [failed, missing] = [progressOf(), progressOf()];
    takeEnding(failed, { kind: 'failed', reason: 'the slot fell over' }, false);
    takeEnding(missing, undefined, false);
    expect([failed.failure, missing.failure]).toEqual(['the slot fell over', 'it ended without a result']);
  });
});

describe('a last interval', () => {
  const plan = planOf({ requests: 10, connections: 2 });

  it('shows a fatal end by what was not sent because of it', () => {
    expect(hasFatalEnd(plan, lastInterval(3, { notSentFatal: 1 }))).toBe(true);
    expect(hasFatalEnd(plan, lastInterval(3))).toBe(false);
  });

  it('shows a fatal end by its time where the plan has only a duration', () => {
    const timed = planOf({ durationMs: 5_000, connections: 2 });
    expect(hasFatalEnd(timed, lastInterval(2))).toBe(true);
    expect(hasFatalEnd(timed, lastInterval(4))).toBe(false);
  });

  it('shows that somebody stopped the shard', () => {
    expect(endedEarly(lastInterval(0, { notSentStopped: 2 }))).toBe(true);
    expect(endedEarly(lastInterval(0, { notSentTimeOver: 2 }))).toBe(false);
  });
});

describe('an attempt of a run that finished', () => {
  const [timed] = splitPlan(planOf({ durationMs: 5_000, connections: 2 }), 'r', 1);

  function endedIn(number: number): ShardProgress {
    if (timed === undefined) throw new Error('no such shard');
    const progress = new ShardProgress(timed, 'a', 'agent-a');
    progress.count(lastInterval(number));
    return progress;
  }

  it('is wrong where it ended before its time, and nobody took note', () => {
    expect(earlyEnd(endedIn(2), [])).toBe('its load ended after 3.00s of its 5.00s, and nobody had ended it');
    expect(earlyEnd(endedIn(4), [])).toBeUndefined();
  });

  it('is not wrong where it had an error, is a loss, or has not said its last', () => {
    const failed = endedIn(2);
    failed.fatal = { code: 'ECONNREFUSED', message: 'refused' };
    expect(earlyEnd(failed, [])).toBeUndefined();
    const rests = new RunRests();
    const lost = endedIn(2);
    rests.lose(lost, { cause: 'left', noticedAtMs: 3_000, isWanted: true });
    expect(earlyEnd(lost, rests.losses)).toBeUndefined();
    expect(earlyEnd(progressOf(), [])).toBeUndefined();
  });

  it('is wrong where it was stopped with requests left, and nobody took note', () => {
    const progress = progressOf();
    progress.count(lastInterval(0, { notSentStopped: 2 }));
    expect(earlyEnd(progress, [])).toBe('its load ended after 1.00s, and nobody had ended it');
  });

  it('keeps its last interval, whose arrays the next frame is decoded into', () => {
    const progress = progressOf();
    const interval = lastInterval(0, { notSentStopped: 2 });
    progress.count(interval);
    interval.counters.fill(0);
    expect(progress.last).toMatchObject({ number: 0, span: 1 });
    expect(progress.last && endedEarly(progress.last)).toBe(true);
  });
});

describe('shards in a sentence', () => {
  it('are named up to a few', () => {
    const shards = [0, 1, 2, 3].map(progressOf);
    expect(namesOf(shards.slice(0, 1))).toBe('shard 0 (attempt 1, agent agent-a)');
    expect(namesOf(shards)).toMatch(/shard 2 \(attempt 1, agent agent-a\) and 1 more$/);
  });
});

describe('a probe that failed', () => {
  const fatal = (failureClass: FailureClass): Fatal => ({ failureClass, code: 'X', message: 'x' });
  it('ends a load that is to stop at a socket error only where the connection was at fault', () => {
    const broken = FAILURE_CLASSES.filter((name) => isSocketError(fatal(name)));
    expect(broken).toEqual(
      expect.arrayContaining(['connectRefused', 'resetBeforeFirstByte', 'resetAfterFirstByte', 'timeout']),
    );
    for (const name of ['truncated', 'malformed', 'tooLarge', 'closedWithoutReplyNew'] as const) {
      expect(broken).not.toContain(name);
    }
  });
});
