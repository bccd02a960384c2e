import { describe, expect, it } from 'vitest';
import { balancedCounters, sampleAgent, sampleReport } from '../testing/observed.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { abNotes } from './render/ab-notes.js';
import { summaryText } from './render/summary-text.js';
import type { Report } from './report.schema.js';
import { keepAliveDiagnosis } from './verdict.js';

const { run: RUN } = sampleReport();

describe('outcome', () => {
  it('is pass when the books balance, and failures are told', () => {
    const { verdict } = sampleReport({
      plan: { requests: 1_000 },
      seen: { counters: balancedCounters({ completed: 963, timeout: 30, truncated: 7 }) },
    });
    expect(verdict.outcome).toBe('pass');
    expect(verdict.reasons[0]).toBe('37 of 1,000 requests failed: 30 timed out, 7 truncated');
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
      limit: 'undecided',
      reasons: ['the books do not balance: shard 3: interval 7 is missing'],
      advice: [],
    });
  });

  it.each(['aborted', 'finished'] as const)(
    'says why a run was stopped (%s) also where its books do not balance',
    (state) => {
      const { verdict } = sampleReport({
        seen: { counters: balancedCounters({ completed: 100 }) },
        input: {
          problems: ['shard 3: its own totals never came'],
          run: { ...RUN, state, reason: 'killed: X' },
        },
      });
      expect(verdict).toMatchObject({
        outcome: 'inconclusive',
        reasons: ['the books do not balance: shard 3: its own totals never came', 'killed: X'],
      });
    },
  );

  it('gives no evidence and no advice for a limit from numbers that cannot be relied on', () => {
    const seen = {
      counters: balancedCounters({ completed: 1_000 }),
      samples: { wait: [100, ...Array.from({ length: 999 }, () => 900)] },
    };
    const busy = {
      second: 0,
      planned: 1_000,
      sent: 1_000,
      completed: 1_000,
      failed: 0,
      inFlight: 0,
      openConnections: 1,
      bytesReceived: 1,
      busyShareMax: 0.99,
    };
    const of = (problems: string[]): Report =>
      sampleReport({ plan: { requests: 1_000 }, seen, input: { seconds: [busy], problems } });
    expect(of([]).verdict.limit).toBe('generator');
    const { verdict } = of(['shard 0: its totals are missing']);
    expect(verdict).toMatchObject({ limit: 'undecided', advice: [] });
    expect(verdict.reasons).toHaveLength(1);
  });

  it('is inconclusive when fewer requests were planned than the plan has', () => {
    const { verdict } = sampleReport({ seen: { counters: balancedCounters({ completed: 99 }) } });
    expect(verdict.reasons[0]).toContain('planned 99 is not the 100 requests of the plan');
  });

  it('separates the thousands of every number', () => {
    const of = (completed: number, timeout: number): Report =>
      sampleReport({
        plan: { requests: completed + timeout },
        seen: { counters: balancedCounters({ completed, timeout }) },
      });
    expect(of(1_067, 2_933).verdict).toMatchObject({
      warning: expect.stringMatching(/^2,933 of 4,000 requests failed/) as unknown,
      reasons: expect.arrayContaining([
        'more failed than succeeded: 2,933 requests failed, 1,067 succeeded',
        '2,933 of 4,000 requests failed: 2,933 timed out',
      ]) as unknown,
    });
    expect(of(0, 4_000).verdict.reasons[0]).toBe('no request of 4,000 succeeded');
    const unequal = sampleReport({
      plan: { requests: 5_000 },
      seen: { counters: balancedCounters({ completed: 4_000 }) },
    });
    expect(unequal.verdict.reasons[0]).toContain('planned 4,000 is not the 5,000 requests of the plan');
  });

  it('is aborted when a person stopped the run', () => {
    const report = sampleReport({
      seen: { counters: balancedCounters({ completed: 60, planned: 100, notSentStopped: 40 }) },
      input: { run: { ...RUN, state: 'aborted', reason: 'stopped by SIGINT' } },
    });
    expect(report.verdict).toMatchObject({ outcome: 'aborted' });
    expect(report.verdict.reasons[0]).toBe('stopped by SIGINT');
    // Whoever interrupts a command himself gets the code of the signal.
    expect(exitCodeOf(report)).toBe(EXIT.cluster);
  });

  it('names the agent of the error that ended a run on several', () => {
    const fatal = { code: 'NOT_ALLOWED', message: 'the target policy does not allow it' };
    const reason = `agent b: ${fatal.message}`;
    const of = (...agents: readonly string[]): string | undefined =>
      sampleReport({
        seen: { counters: balancedCounters({ planned: 100, notSentFatal: 100 }) },
        input: { fatal, run: { ...RUN, state: 'failed', reason }, agents: agents.map(sampleAgent) },
      }).verdict.reasons[0];
    expect(of('a', 'b')).toBe(`ended by an error: ${reason}`);
    expect(of('b')).toBe(`ended by an error: ${fatal.message}`);
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

  it.each([
    [{ connectRefused: 1 }, EXIT.runFailed],
    [{ connectRefused: 60, connectTimeout: 40 }, EXIT.runFailed],
    [{ noDescriptor: 10 }, EXIT.runFailed],
    [{ connectRefused: 99, timeout: 1 }, EXIT.verdictFail],
    [{ tls: 10 }, EXIT.verdictFail],
    [{ connectRefused: 99, completed: 1 }, EXIT.verdictFail],
    [{ connectRefused: 1, completed: 99 }, EXIT.ok],
  ])(
    '%j ends with code %d: no connection at all is a run that could not be carried out',
    (counters, code) => {
      const requests = Object.values(counters).reduce((sum, count) => sum + count, 0);
      const report = sampleReport({ plan: { requests }, seen: { counters: balancedCounters(counters) } });
      expect(exitCodeOf(report)).toBe(code);
    },
  );

  it('is fail when more requests failed than succeeded, and the headline says so', () => {
    const of = (completed: number, timeout: number): Report =>
      sampleReport({
        plan: { requests: completed + timeout },
        seen: { counters: balancedCounters({ completed, timeout }) },
      });
    const report = of(13, 187);
    expect(report.verdict).toMatchObject({
      outcome: 'fail',
      warning: '187 of 200 requests failed (timed out): this number is not what the target can serve',
    });
    expect(report.verdict.reasons[0]).toBe('more failed than succeeded: 187 requests failed, 13 succeeded');
    expect(exitCodeOf(report)).toBe(EXIT.verdictFail);
    expect(of(100, 100).verdict.outcome).toBe('pass');
    expect(of(90, 10).verdict.warning).toMatch(/^10 of 100 requests failed/);
    expect(of(91, 9).verdict.warning).toBeUndefined();
    expect(of(0, 9).verdict.warning).toMatch(/^9 of 9 requests failed/);
  });

  it('names connections whose announced end the target left to us', () => {
    const { verdict } = sampleReport({
      plan: { requests: 20 },
      seen: { counters: balancedCounters({ completed: 20, connectionsLeftToUs: 20 }) },
    });
    expect(verdict.reasons).toContain(
      'the target announces the end of connections, or implies it by HTTP/1.0, but leaves closing to us: ' +
        '20 connections waited 100 ms for it',
    );
  });

  it('names replies with bytes behind them, which no failure tells of', () => {
    const reasonsOf = (repliesWithSurplus: number): string[] =>
      sampleReport({
        plan: { requests: 2_000 },
        seen: { counters: balancedCounters({ completed: 2_000, repliesWithSurplus }) },
      }).verdict.reasons;
    expect(reasonsOf(1_361)).toContain(
      "the target's framing is wrong: 1,361 replies had bytes behind them that answer no request, as with a " +
        'Content-Length that is too small or a reply that is sent twice; the connection was closed each time, and ' +
        'another one opened for what came next',
    );
    expect(reasonsOf(1).join()).toContain('1 reply had bytes behind it');
    expect(reasonsOf(0).join()).not.toContain('framing');
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

  it('says what to do about a certificate that nobody trusts, and where its other requests are', () => {
    const report = sampleReport({
      plan: { requests: 1_000, connections: 5, target: 'https://127.0.0.1:9/' },
      seen: {
        counters: balancedCounters({
          tls: 20,
          sent: 22,
          planned: 1_000,
          inFlightAtEnd: 2,
          notSentFatal: 978,
        }),
      },
      input: {
        failureReasons: [{ reason: 'self-signed certificate', count: 20 }],
        fatal: { failureClass: 'tls', code: 'TLS', message: 'TLS failed: self-signed certificate' },
      },
    });
    expect(report.verdict.outcome).toBe('fail');
    expect(report.verdict.advice.join()).toMatch(/--ca FILE, .*--insecure/);
    const books =
      '1,000 planned = 0 completed + 20 failed + 2 in flight at the end + 978 not sent, fatal error';
    for (const text of [summaryText(report), abNotes(report)]) {
      const words = text.replace(/\s+/g, ' ');
      expect(words).toMatch(/Books:? balance: /);
      expect(words).toContain(books);
      expect(words).toMatch(/Advice:? a certificate that no usual authority has signed/);
    }
  });

  it('is pass for a balanced run with nothing wrong', () => {
    const report = sampleReport({ seen: { counters: balancedCounters({ completed: 100 }) } });
    expect(report.verdict.outcome).toBe('pass');
    expect(exitCodeOf(report)).toBe(EXIT.ok);
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
        '(10,000 requests per connection on average); ' +
        'each met a request that was already sent and got no reply',
    );
    expect(report.verdict.reasons).toContain(keepAliveDiagnosis(report));
  });

  it('names a regular limit, with what met it', () => {
    const report = sampleReport({
      plan: { requests: 10_000, connections: 10 },
      seen: {
        counters: balancedCounters({ completed: 9_901, closedWithoutReplyReused: 99, retried: 1 }),
        samples: { servedClosedUnannounced: Array.from({ length: 99 }, () => 100) },
      },
    });
    expect(keepAliveDiagnosis(report)).toBe(
      'the server closes every connection after 100 requests without announcing it (99 closes); ' +
        '99 requests met such a close and got no reply, 1 request met one and was sent once more',
    );
  });

  it('is silent without them', () => {
    expect(keepAliveDiagnosis(sampleReport())).toBeUndefined();
  });
});
