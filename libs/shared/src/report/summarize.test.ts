import { expect, it } from 'vitest';
import { countersToRecord } from '../metrics/counters.js';
import type { PlanInput } from '../plan/plan.schema.js';
import { balancedCounters, observed, sampleAgent, sampleReport } from '../testing/observed.js';
import type { Loss } from './loss.js';
import { abNotes } from './render/ab-notes.js';
import { reportJson } from './render/json.js';
import { summaryText } from './render/summary-text.js';
import { type Report, reportSchema } from './report.schema.js';

const FULL = {
  seen: {
    counters: balancedCounters({ completed: 95, truncated: 5, non2xx: 3, bytesReceived: 5_000 }),
    statusCounts: [
      [200, 92],
      [503, 3],
    ],
    samples: { connect: [100], wait: [10, 20], fresh: [130], freshProcessing: [30], reused: [25, 26] },
    gauges: { firstSendUs: 0, lastEventUs: 1_234_567 },
  },
} as const;

it('makes a document that its schema accepts and that JSON does not change', () => {
  for (const report of [sampleReport(), sampleReport(FULL)]) {
    const arrived: unknown = JSON.parse(JSON.stringify(report));
    expect(arrived).toEqual(report);
    expect(reportSchema.parse(arrived)).toEqual(report);
  }
});

it('carries counters, status codes, times and latencies of the totals', () => {
  const report = sampleReport(FULL);
  expect(report).toMatchObject({
    timeTakenUs: 1_234_567,
    counters: { completed: 95, truncated: 5, bytesReceived: 5_000 },
    statusCounts: { 200: 92, 503: 3 },
    latency: { total: { count: 3, maxUs: 130 }, processing: { maxUs: 30 } },
  });
  expect(report).not.toHaveProperty('referenceBytes');
  expect(report).not.toHaveProperty('fatal');
});

it('sums up the shards of each agent', () => {
  const counters = (completed: number, timeout: number) =>
    countersToRecord(observed({ counters: { completed, timeout } }).counters);
  const shard = { attempt: 1, connections: 3 };
  const report = sampleReport({
    input: {
      agents: [sampleAgent('a1'), sampleAgent('a2'), sampleAgent('a3')],
      shards: [
        { ...shard, shardIndex: 0, agentId: 'a1', counters: counters(10, 1) },
        { ...shard, shardIndex: 1, agentId: 'a2', counters: counters(20, 0) },
        { ...shard, shardIndex: 2, agentId: 'a1', counters: counters(30, 2) },
        { ...shard, shardIndex: 3, agentId: 'a2' },
      ],
    },
  });
  expect(report.agents).toMatchObject([
    { agentId: 'a1', shards: 2, connections: 6, completed: 40, failed: 3 },
    { agentId: 'a2', shards: 2, connections: 6, completed: 20, failed: 0 },
    { agentId: 'a3', shards: 0, connections: 0, completed: 0, failed: 0 },
  ]);
});

it('accepts requests that were lost with an agent as a stated part of the books', () => {
  const report = sampleReport({
    seen: { counters: balancedCounters({ completed: 90, sent: 100, planned: 100 }) },
    input: { losses: [lossOf({ lostRequests: 10 })] },
  });
  expect(report).toMatchObject({ lostWithAgent: 10, ledger: { balanced: true, problems: [] } });
  expect(report.verdict.outcome).toBe('inconclusive');
  expect(report.verdict.reasons[0]).toBe(
    'the outcome of 10 of 100 requests is not known, because their agent was lost',
  );
});

it('passes when few outcomes went with an agent and others took the rest over', () => {
  const taken = { attempt: 2, agentId: 'b', agentName: 'b', fromMs: 6_000, isExtra: true };
  const loss = lossOf({
    lostRequests: 1,
    restRequests: 50,
    rest: 'taken',
    takenBy: taken,
    waitingRequests: 3,
  });
  const report = sampleReport({
    plan: { requests: 1_000, connections: 10 },
    // The lost attempt planned 3 requests that waited, and the one that took over planned them again.
    seen: { counters: balancedCounters({ completed: 999, sent: 1_000, planned: 1_003 }) },
    input: { losses: [loss] },
  });
  expect(report.ledger.problems).toEqual([]);
  expect(report.counters.planned).toBe(1_000);
  expect(report.verdict.outcome).toBe('pass');
  expect(report.verdict.reasons[0]).toBe(
    'agent a was lost with shard 0 (noticed at 4.2 s; its numbers end at 3 s); the outcome of 1 request is not ' +
      'known; agent b took its other 50 requests over at 6 s, beside its own shards',
  );
});

it('declares what nobody sent in the place of a lost agent', () => {
  const loss = lossOf({ restRequests: 40, rest: 'dropped' });
  const seen = { counters: balancedCounters({ completed: 60, sent: 60, planned: 60 }) };
  const rebalanced = sampleReport({ plan: { requests: 100 }, seen, input: { losses: [loss] } });
  expect(rebalanced).toMatchObject({ notSentWithAgent: 40, ledger: { problems: [] } });
  expect(rebalanced.counters.planned).toBe(100);
  expect(rebalanced.verdict.outcome).toBe('inconclusive');
  const plan = { requests: 100, onAgentLoss: 'continue' } as const;
  expect(sampleReport({ plan, seen, input: { losses: [loss] } }).verdict.outcome).toBe('pass');
});

it('does not pass where a lost agent may have sent much that is in no number', () => {
  const seen = { counters: balancedCounters({ completed: 600 }) };
  const reportOf = (given: Partial<Loss>): Report =>
    sampleReport({
      plan: { requests: 600, onAgentLoss: 'continue' },
      seen,
      input: { losses: [lossOf(given)] },
    });
  expect(reportOf({ unaccountedMax: 60 }).verdict.outcome).toBe('pass');
  const much = reportOf({ unaccountedMax: 61 }).verdict;
  expect(much.outcome).toBe('inconclusive');
  expect(much.reasons[0]).toBe('lost agents may have sent 61 requests beside the 600 that are counted');
  // What the agent itself says when it is back is no guess any more.
  expect(reportOf({ unaccountedMax: 61, unaccounted: 0 }).verdict.outcome).toBe('pass');
  const unknown = reportOf({ unaccountedMax: undefined }).verdict;
  expect(unknown.outcome).toBe('inconclusive');
  expect(unknown.reasons[0]).toBe(
    'nobody knows what agent a sent before it was lost with shard 0: none of its numbers came',
  );
  expect(unknown.reasons[1]).toContain('nobody knows what it sent');
});

/** 1,000 a second for 8 s on two agents, of which one was lost after 2 s. */
function halfOfRateLost(lost: Partial<Loss>, more: { sent: number; plan?: Partial<PlanInput> }): Report {
  return sampleReport({
    plan: { requests: undefined, connections: 20, rate: 1_000, duration: '8s', ...more.plan },
    seen: {
      counters: balancedCounters({ completed: more.sent }),
      samples: { reused: [200], wait: [150, 160] },
      gauges: { firstSendUs: 0, lastEventUs: 7_999_000 },
    },
    input: { losses: [lossOf(lost)] },
  });
}

it('has in its books what was due by a rate and went with an agent, and says so in every format', () => {
  const report = halfOfRateLost(
    { rest: 'dropped', missedRequests: 3_000, unaccountedMax: 1_043 },
    { sent: 5_000 },
  );
  expect(report).toMatchObject({
    counters: { planned: 8_000, sent: 5_000 },
    notSentWithAgent: 3_000,
    ledger: { balanced: true, problems: [] },
    verdict: { outcome: 'inconclusive' },
  });
  const reason = 'the rest of shard 0 was not sent after agent a had gone: 3,000 of 8,000 requests';
  expect(report.verdict.reasons[0]).toBe(reason);
  expect(report.verdict.reasons[1]).toMatch(
    /it may have sent at most 1,043 more that are counted nowhere; not sent: its other 3,000 requests$/,
  );
  expect(report.verdict.advice.join()).toContain('start one agent more than the run needs');
  const warning = `the result is open: ${reason}`;
  expect(JSON.parse(reportJson(report))).toMatchObject({ verdict: { warning } });
  // A report of before has no warning in it.
  const { warning: _, ...verdict } = report.verdict;
  for (const each of [report, { ...report, verdict }]) {
    for (const text of [summaryText(each), abNotes(each)].map((one) => one.replace(/\s+/g, ' '))) {
      expect(text).toMatch(new RegExp(`(! |Warning: )${warning}`));
      expect(text).toContain('8,000 planned = 5,000 completed + 3,000 not sent, agent lost');
      expect(text).not.toContain('not balance');
    }
  }
});

it('does not take a rate for reached of which a lost agent had a part', () => {
  const plan = { onAgentLoss: 'continue' } as const;
  const { verdict } = halfOfRateLost(
    { rest: 'dropped', missedRequests: 3_000, unaccountedMax: 100 },
    { sent: 5_000, plan },
  );
  const reached = 'asked for 1,000/s, reached 625/s: 3,000 of 8,000 requests that were due were not sent';
  const withAgent = '3,000 of them with a lost agent, which may have sent some of these';
  const reason = `${reached}, ${withAgent}; load was missing after agent a had gone`;
  expect(verdict).toMatchObject({ outcome: 'inconclusive', warning: `the result is open: ${reason}` });
  expect(verdict.reasons[0]).toBe(reason);
  const takenBy = { attempt: 2, agentId: 'b', agentName: 'b', fromMs: 3_000 };
  const gap = halfOfRateLost({ rest: 'taken', takenBy, missedRequests: 500 }, { sent: 7_500 });
  expect(gap.counters.planned).toBe(8_000);
  expect(gap.verdict.reasons[0]).toContain(
    '500 of 8,000 requests that were due were not sent, 500 of them with',
  );
  expect(gap.verdict.reasons[1]).toMatch(
    /took the rest of its load over at 3 s; not sent until then: 500 requests$/,
  );
});

it('books what a budget would not have sent in its time as that, and not with the agent', () => {
  const lost = { rest: 'dropped', restRequests: 40_000, missedRequests: 3_000 } as const;
  const report = halfOfRateLost(lost, { sent: 5_000, plan: { requests: 45_000 } });
  expect(report).toMatchObject({
    counters: { planned: 45_000, notSentTimeOver: 37_000 },
    notSentWithAgent: 3_000,
    ledger: { problems: [] },
  });
});

it('has one rate, whoever tells it', () => {
  const report = sampleReport({
    plan: { requests: 6_000, rate: 900, connections: 21 },
    seen: {
      counters: balancedCounters({ completed: 6_000 }),
      samples: { reused: [281_000], wait: [100, 120] },
      gauges: { firstSendUs: 0, lastEventUs: 11_852_000 },
    },
  });
  const text = summaryText(report).replace(/\s+/g, ' ');
  expect(text).toContain('506 requests/s 6,000 completed');
  expect(text).toContain('asked for 900/s: 6,000 planned, 6,000 sent (506/s)');
  expect(text).toContain('asked for 900/s, reached 506/s: the requests were sent late');
});

it('moves what an agent gave back in order from not sent to the attempt that sent it', () => {
  const loss = lossOf({ cause: 'left', restRequests: 30, returnedRequests: 30, rest: 'taken' });
  const report = sampleReport({
    plan: { requests: 100 },
    seen: { counters: balancedCounters({ completed: 100, sent: 100, planned: 130, notSentStopped: 30 }) },
    input: { losses: [loss] },
  });
  expect(report.ledger.problems).toEqual([]);
  expect(report.counters).toMatchObject({ planned: 100, notSentStopped: 0 });
});

function lossOf(given: Partial<Loss>): Loss {
  return {
    shardIndex: 0,
    attempt: 1,
    agentId: 'a',
    agentName: 'a',
    cause: 'lost',
    coveredToMs: 3_000,
    noticedAtMs: 4_200,
    lostRequests: 0,
    openConnections: 0,
    openingConnections: 0,
    waitingRequests: 0,
    returnedRequests: 0,
    rest: 'none',
    unaccountedMax: 0,
    ...given,
  };
}

it('holds a request budget against the run only where no duration can end it first', () => {
  const counters = balancedCounters({ completed: 90 });
  const short = sampleReport({ plan: { requests: 100 }, seen: { counters } });
  const timed = sampleReport({ plan: { requests: 100, duration: '1s' }, seen: { counters } });
  expect(short.ledger.problems).toEqual(['planned 90 is not the 100 requests of the plan']);
  expect(timed.ledger.problems).toEqual([]);
});
