import { expect, it } from 'vitest';
import { countersToRecord } from '../metrics/counters.js';
import { balancedCounters, observed, sampleAgent, sampleReport } from '../testing/observed.js';
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
    input: { lostWithAgent: 10 },
  });
  expect(report).toMatchObject({ lostWithAgent: 10, ledger: { balanced: true, problems: [] } });
});

it('holds a request budget against the run only where no duration can end it first', () => {
  const counters = balancedCounters({ completed: 90 });
  const short = sampleReport({ plan: { requests: 100 }, seen: { counters } });
  const timed = sampleReport({ plan: { requests: 100, duration: '1s' }, seen: { counters } });
  expect(short.ledger.problems).toEqual(['planned 90 is not the 100 requests of the plan']);
  expect(timed.ledger.problems).toEqual([]);
});
