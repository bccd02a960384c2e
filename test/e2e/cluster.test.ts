import {
  type CounterName,
  counterOf,
  decodeInterval,
  decodeTotals,
  failedOf,
  HISTOGRAM,
  type HistogramName,
  type Interval,
  type Report,
  type ShardTotals,
} from '@broadside/shared';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAbReport } from '../support/ab-shape.js';
import { binsOf, expectBins, sum } from '../support/added-up.js';
import { PostgresServer } from '../support/postgres.js';
import type { RunningProcess } from '../support/process.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { type FiredRun, fire, reportOf } from './command-line.js';
import { type StartedCoordinator, startAgentProcess, startServe } from './started-cluster.js';

const NAMES = ['one', 'two', 'three'];
const JOIN_TOKEN = 'a-join-token-of-this-test';

describe.runIf(canRun('redis-server', 'postgres'))('a run on Redis and three agent processes', () => {
  const target = new WellBehavedTarget();
  let redis: RedisServer;
  let postgres: PostgresServer;
  let coordinator: StartedCoordinator;
  let agents: readonly RunningProcess[] = [];
  let fired: FiredRun;
  let report: Report;
  let totals: readonly ShardTotals[] = [];
  let intervals: readonly Interval[] = [];

  beforeAll(async () => {
    await target.start();
    [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
    const env = { BROADSIDE_JOIN_TOKEN: JOIN_TOKEN };
    coordinator = await startServe(['--redis', redis.url, '--database', postgres.url], env);
    agents = await Promise.all(
      NAMES.map((name) =>
        startAgentProcess(['--join', coordinator.url, '--name', name, '--slots', '1'], env),
      ),
    );
    const words = ['--agents-at', coordinator.url, '-n', '200000', '-c', '50', '-k'];
    fired = await fire(['ab', ...words, `${target.url}/`]);
    report = reportOf(fired);
    ({ totals, intervals } = await readStore(postgres.url, report.run.id));
  });

  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.stop()));
    await coordinator.process.stop();
    await Promise.all([redis.stop(), postgres.stop(), target.stop()]);
  });

  it('uses all three, and the report names them and their shares', () => {
    expect(fired.exitCode).toBe(0);
    expect(report.agents.map((agent) => agent.name).sort()).toEqual([...NAMES].sort());
    expect(new Set(report.agents.map((agent) => agent.completed))).toEqual(new Set([64_000, 68_000]));
    expect(sum(report.agents.map((agent) => agent.completed))).toBe(200_000);
    for (const name of NAMES) {
      expect(fired.stderr).toMatch(
        new RegExp(`\\b${name}: 6[48],000 requests \\(3[24]\\.?\\d* %\\), 1 shard$`, 'm'),
      );
    }
  });

  it('counts exactly what the target has seen', () => {
    expect(parseAbReport(fired.stdout)).toMatchObject({
      completeRequests: 200_000,
      failedRequests: 0,
      keepAliveRequests: 200_000,
      htmlTransferredBytes: 20_000_000,
    });
    expect(target.counters).toMatchObject({
      requestsSeen: 200_000,
      repliesSent: 200_000,
      connectionsAccepted: 50,
      connectionsOpenMax: 50,
      socketErrors: 0,
    });
    expect(report.counters.bytesSent).toBe(target.counters.bytesReceived);
    expect(report.counters.connectionsOpened).toBe(50);
  });

  it('merges histograms that equal, bin for bin, the sum of what the shards counted', () => {
    expect(totals).toHaveLength(3);
    const { latency } = report;
    expectBins(latency.total, totals, ['fresh', 'reused']);
    expectBins(latency.processing, totals, ['freshProcessing', 'reused']);
    expectBins(latency.connect, totals, ['connect']);
    expectBins(latency.wait, totals, ['wait']);
    expectBins(latency.fresh, totals, ['fresh']);
    expectBins(latency.reused, totals, ['reused']);
    expect(latency.total.count).toBe(200_000);
    expect(latency.fresh.count).toBe(50);
  });

  it('stores intervals that equal the totals of their shard, counter for counter and bin for bin', () => {
    for (const own of totals) {
      const parts = intervals.filter((interval) => interval.shardIndex === own.shardIndex);
      expect(parts.map((part) => part.number)).toEqual(parts.map((_, number) => number));
      expect(parts.map((part) => part.isLast)).toEqual(parts.map((_, i) => i === parts.length - 1));
      for (const [index, value] of own.counters.entries()) {
        expect(sum(parts.map((part) => part.counters[index] ?? 0))).toBe(value);
      }
      for (const name of Object.keys(HISTOGRAM)) {
        // The keys of HISTOGRAM are exactly these names; the library says string.
        const histogram = name as HistogramName;
        expect([...binsOf(parts, [histogram])]).toEqual([...binsOf([own], [histogram])]);
      }
    }
  });

  it('balances at every second: planned = completed + failed + in flight', () => {
    const last = Math.max(...intervals.map((interval) => interval.number));
    expect(report.seconds).toHaveLength(last + 1);
    expect(last).toBeGreaterThanOrEqual(1);
    for (const [second, row] of report.seconds.entries()) {
      const soFar = intervals.filter((interval) => interval.number <= second);
      const count = (name: CounterName): number => sum(soFar.map((part) => counterOf(part.counters, name)));
      const ended = count('completed') + sum(soFar.map((part) => failedOf(part.counters)));
      const rows = report.seconds.slice(0, second + 1);
      expect(count('planned')).toBe(ended + row.inFlight);
      expect(sum(rows.map((each) => each.planned))).toBe(count('planned'));
      expect(sum(rows.map((each) => each.completed + each.failed))).toBe(ended);
      // Each connection carries at most one request that has not ended.
      expect(row.inFlight).toBeLessThanOrEqual(50);
    }
    expect(report.seconds.at(-1)?.inFlight).toBe(0);
    expect(report.ledger).toEqual({ balanced: true, problems: [] });
  });
});

interface Stored {
  readonly totals: ShardTotals[];
  readonly intervals: Interval[];
}

/** What the coordinator was sent, as it is stored: read without any of the coordinator's own code. */
async function readStore(url: string, runId: string): Promise<Stored> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const shards = await client.query<{ totals: Buffer }>(
      'select totals from broadside.shards where run_id = $1 order by shard_index',
      [runId],
    );
    const frames = await client.query<{ frame: Buffer }>(
      'select frame from broadside.intervals where run_id = $1 order by shard_index, number',
      [runId],
    );
    return {
      totals: shards.rows.map((row) => decodeTotals(row.totals)),
      intervals: frames.rows.map((row) => decodeInterval(row.frame)),
    };
  } finally {
    await client.end();
  }
}
