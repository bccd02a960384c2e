import { expect, it } from 'vitest';
import { countersToRecord } from '../metrics/counters.js';
import { balancedCounters, observed, sampleAgent, sampleReport } from '../testing/observed.js';
import type { Loss } from './loss.js';
import { reportSchema } from './report.schema.js';

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
