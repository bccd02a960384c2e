import { describe, expect, it } from 'vitest';
import { balancedCounters, type SampleReport, type Seen, sampleReport } from '../testing/observed.js';
import type { Second } from '../wire/live-message.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { Report, Verdict } from './report.schema.js';
import { keepAliveDiagnosis } from './verdict.js';

const { run: RUN } = sampleReport();

function second(busyShareMax: number, number = 0): Second {
  return {
    second: number,
    planned: 1_000,
    sent: 1_000,
    completed: 1_000,
    failed: 0,
    inFlight: 10,
    openConnections: 10,
    bytesReceived: 1_000,
    busyShareMax,
  };
}

/** A run of ten seconds: its waits, how busy its threads were, and anything else. */
function runOf(
  waitsUs: readonly number[],
  busyShares: readonly number[],
  more: SampleReport & { counters?: NonNullable<Seen['counters']> } = {},
): Verdict {
  const completed = waitsUs.length;
  return sampleReport({
    ...more,
    plan: { connections: 50, requests: undefined, duration: '10s', ...more.plan },
    seen: {
      counters: balancedCounters({ completed, bytesReceived: 1_000 * completed, ...more.counters }),
      samples: { wait: waitsUs, reused: waitsUs },
      gauges: { firstSendUs: 0, lastEventUs: 10_000_000 },
    },
    input: { seconds: busyShares.map(second), ...more.input },
  }).verdict;
}

const waits = (fastestUs: number, usualUs: number, count = 1_000): number[] => [
  fastestUs,
  ...Array.from({ length: count - 1 }, () => usualUs),
];

describe('outcome', () => {
  it('is pass when the books balance, and failures are told', () => {
    const { verdict } = sampleReport({
      plan: { requests: 1_000 },
      seen: { counters: balancedCounters({ completed: 963, timeout: 30, truncated: 7 }) },
    });
    expect(verdict.outcome).toBe('pass');
    expect(verdict.reasons[0]).toBe('37 of 1000 requests failed: 30 timed out, 7 truncated');
  });

  it('is inconclusive when the books do not balance, whatever else happened', () => {
    const report = sampleReport({
      seen: { counters: balancedCounters({ completed: 100, sent: 101, planned: 101 }) },
      input: { run: { ...RUN, state: 'aborted' } },
    });
    expect(report.ledger.balanced).toBe(false);
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive' });
    expect(report.verdict.reasons[0]).toMatch(
      /^the books do not balance: sent 101 is not .* \(and 1 more\)$/,
    );
    expect(exitCodeOf(report)).toBe(EXIT.inconclusive);
  });

  it('is inconclusive when something is missing', () => {
    const { verdict } = sampleReport({
      seen: { counters: balancedCounters({ completed: 100 }) },
      input: { problems: ['shard 3: interval 7 is missing'] },
    });
    expect(verdict).toMatchObject({
      outcome: 'inconclusive',
      reasons: ['the books do not balance: shard 3: interval 7 is missing', expect.any(String)],
    });
  });

  it('is inconclusive when fewer requests were planned than the plan has', () => {
    const { verdict } = sampleReport({ seen: { counters: balancedCounters({ completed: 99 }) } });
    expect(verdict.reasons[0]).toContain('planned 99 is not the 100 requests of the plan');
  });

  it('is aborted when a person stopped the run', () => {
    const report = sampleReport({
      seen: { counters: balancedCounters({ completed: 60, planned: 100, notSentStopped: 40 }) },
      input: { run: { ...RUN, state: 'aborted', reason: 'stopped by SIGINT' } },
    });
    expect(report.verdict).toMatchObject({ outcome: 'aborted' });
    expect(report.verdict.reasons[0]).toBe('stopped by SIGINT');
    expect(exitCodeOf(report)).toBe(EXIT.interrupted);
  });

  it('is fail when no request succeeded', () => {
    const report = sampleReport({ seen: { counters: balancedCounters({ timeout: 100 }) } });
    expect(report.verdict).toMatchObject({
      outcome: 'fail',
      limit: 'undecided',
      reasons: ['no request of 100 succeeded', '100 of 100 requests failed: 100 timed out'],
    });
    expect(exitCodeOf(report)).toBe(EXIT.verdictFail);
  });

  it('is fail when a fatal error ended it, although some succeeded', () => {
    const { verdict, fatal } = sampleReport({
      seen: {
        counters: balancedCounters({
          completed: 60,
          resetBeforeFirstByte: 1,
          planned: 100,
          notSentFatal: 39,
        }),
      },
      input: {
        shards: [
          {
            shardIndex: 0,
            attempt: 1,
            agentId: 'a1',
            connections: 1,
            fatal: { code: 'ECONNRESET', message: 'connection reset by 127.0.0.1:80' },
          },
        ],
      },
    });
    expect(verdict.outcome).toBe('fail');
    expect(verdict.reasons[0]).toBe('ended by an error: connection reset by 127.0.0.1:80');
    expect(fatal?.code).toBe('ECONNRESET');
  });

  it('is fail, and not inconclusive, for a run that never started', () => {
    const { startedAt: _, ...neverStarted } = RUN;
    const report = sampleReport({
      input: { run: { ...neverStarted, state: 'failed', reason: 'name not found' }, shards: [] },
    });
    expect(report.ledger).toEqual({ balanced: true, problems: [] });
    expect(report.verdict).toMatchObject({ outcome: 'fail', reasons: ['name not found'] });
    expect(exitCodeOf(report)).toBe(EXIT.runFailed);
  });

  it('is pass for a balanced run with nothing wrong', () => {
    const report = sampleReport({ seen: { counters: balancedCounters({ completed: 100 }) } });
    expect(report.verdict.outcome).toBe('pass');
    expect(exitCodeOf(report)).toBe(EXIT.ok);
  });
});

describe('limit', () => {
  it('is the generator when a thread was full most of the time', () => {
    const verdict = runOf(waits(100, 900), [0.95, 0.97, 0.5, 0.99]);
    expect(verdict.limit).toBe('generator');
    expect(verdict.reasons.join()).toContain('at least 90 % busy in 3 of 4 seconds');
    expect(verdict.advice.join()).toContain('add slots: 1 was in use');
  });

  it('ignores seconds without load', () => {
    const idle = { ...second(0.1, 2), sent: 0, completed: 0 };
    const verdict = runOf(waits(100, 900), [], {
      input: { seconds: [second(0.95), second(0.95, 1), idle, { ...idle, second: 3 }] },
    });
    expect(verdict.limit).toBe('generator');
  });

  it('is the plan when nothing queued and the threads were idle', () => {
    const verdict = runOf(waits(1_000, 1_800), [0.2, 0.3]);
    expect(verdict.limit).toBe('plan');
    expect(verdict.reasons.join()).toMatch(/1\.8 times the shortest.*busy at most 30 %/);
    expect(verdict.advice.join()).toContain('raise the connections (-c) above 50');
  });

  it('is the target when requests queued although the threads were idle', () => {
    const verdict = runOf(waits(1_000, 8_000), [0.2, 0.3]);
    expect(verdict.limit).toBe('target');
    expect(verdict.reasons.join()).toMatch(/8\.0 times the shortest/);
  });

  it.each<[string, Verdict]>([
    ['too few replies', runOf(waits(1_000, 8_000, 99), [0.2])],
    ['no seconds', runOf(waits(1_000, 8_000), [])],
    ['threads neither idle nor full', runOf(waits(1_000, 8_000), [0.8, 0.95, 0.5])],
    ['waits in between', runOf(waits(1_000, 3_000), [0.2])],
    ['a queue of one connection', runOf(waits(1_000, 8_000), [0.2], { plan: { connections: 1 } })],
    [
      'no queue but failures',
      runOf(waits(1_000, 1_500), [0.2], { counters: { timeout: 3, sent: 1_003, planned: 1_003 } }),
    ],
    ['a fast network', runOf(waits(1_000, 8_000), [0.2], { counters: { bytesReceived: 2e9 } })],
  ])('is undecided with %s, and says why', (_, verdict) => {
    expect(verdict.limit).toBe('undecided');
    expect(verdict.reasons.at(-1)).toMatch(/\d/);
  });
});

describe('advice', () => {
  it.each<[keyof Report['counters'], string]>([
    ['lengthDiffers', '-l'],
    ['noLocalPort', '-k'],
    ['noDescriptor', 'ulimit -n'],
  ])('for %s names %s', (counter, words) => {
    const { verdict } = sampleReport({
      seen: { counters: balancedCounters({ completed: 1, [counter]: 5 }) },
    });
    expect(verdict.advice.join()).toContain(words);
  });
});

describe('keepAliveDiagnosis', () => {
  it('tells what unannounced closes are, with the requests per connection', () => {
    const report = sampleReport({
      plan: { requests: 1_000_000, connections: 10 },
      seen: {
        counters: balancedCounters({
          completed: 999_901,
          closedWithoutReplyReused: 99,
          connectionsAsked: 100,
          connectionsOpened: 100,
          connectionsClosedUnannounced: 99,
        }),
      },
    });
    expect(keepAliveDiagnosis(report)).toBe(
      'the server closed 99 reused connections without announcing it ' +
        '(10000 requests per connection on average); ' +
        'each met a request that was already sent and got no reply',
    );
    expect(report.verdict.reasons).toContain(keepAliveDiagnosis(report));
  });

  it('is silent without them', () => {
    expect(keepAliveDiagnosis(sampleReport())).toBeUndefined();
  });
});
