import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { FaultyCluster } from './faulty-cluster.js';
import { SmallDisk } from './small-disk.js';

const NAMES = ['one', 'two'];
const DELAY_MS = 20;
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

describe.runIf(canRun('redis-server', 'postgres'))('in the middle of a run', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let postgres: PostgresServer;
  let cluster: FaultyCluster;

  beforeAll(async () => {
    await target.start();
    postgres = await PostgresServer.start();
    cluster = await FaultyCluster.start({ storeWords: ['--database', postgres.url] });
  });
  beforeEach(() => cluster.haveAgents(NAMES, 1));
  afterAll(async () => {
    await cluster.stop();
    await Promise.all([postgres.stop(), target.stop()]);
  });

  async function waited(seconds: number): Promise<void> {
    const sinceMs = performance.now();
    await cluster.until(() => performance.now() - sinceMs > seconds * 1_000);
  }

  /** A run of 4 connections and so many requests, once the target has seen some seconds of it. */
  async function underLoad(requests: number, seconds: number): Promise<string> {
    const before = target.counters.requestsSeen;
    const runId = await cluster.post({ target: `${target.url}/`, connections: 4, slots: 2, requests });
    await cluster.until(() => target.counters.requestsSeen > before);
    await waited(seconds);
    return runId;
  }

  /** What a report says of a counted run; `whole` is what it says of one that nothing happened to. */
  async function summary(runId: string): Promise<object> {
    const { ledger, losses = [], counters, latency, verdict } = await cluster.report(runId);
    const { completed } = counters;
    const { problems } = ledger;
    return { problems, losses, completed, timed: latency.total.count, outcome: verdict.outcome };
  }
  const whole = (requests: number): object => {
    return { problems: [], losses: [], completed: requests, timed: requests, outcome: 'pass' };
  };

  it('Postgres restarts: nothing is lost', async () => {
    const runId = await underLoad(1_000, 1.5);
    await postgres.crash();
    await postgres.restart();
    expect(await summary(runId)).toEqual(whole(1_000));
  });

  it('Postgres is gone for 8 s, longer than the load: the run ends when it is back', async () => {
    const runId = await underLoad(800, 1.5);
    await postgres.crash();
    await waited(8);
    await postgres.restart();
    expect(await summary(runId)).toEqual(whole(800));
  });

  it('the store takes nothing for 6 s: agents keep what is not acknowledged, and nothing is lost', async () => {
    const runId = await underLoad(1_200, 1.5);
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query('begin; lock table broadside.intervals in access exclusive mode');
    await waited(6);
    await client.query('commit');
    await client.end();
    expect(await summary(runId)).toEqual(whole(1_200));
  });

  it('the coordinator stands still for 6 s: its agents are not held for lost, and nothing is', async () => {
    const runId = await underLoad(1_200, 1.5);
    cluster.coordinator.signal('SIGSTOP');
    await waited(6);
    cluster.coordinator.signal('SIGCONT');
    expect(await summary(runId)).toEqual(whole(1_200));
  });
});

describe.runIf(canRun('redis-server') && isRoot)('a store whose disk', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let disk: SmallDisk;
  let cluster: FaultyCluster;

  beforeAll(async () => {
    await target.start();
    disk = await SmallDisk.create(128);
    cluster = await FaultyCluster.start({ coordinatorPlace: disk, storeWords: ['--data-dir', disk.path] });
    await cluster.haveAgents(NAMES, 1);
  });
  afterAll(async () => {
    await cluster.stop();
    await disk.remove();
    await target.stop();
  });

  it('is full at the end of a run: the report is there when there is room again', async () => {
    const before = target.counters.requestsSeen;
    const plan = { target: `${target.url}/`, connections: 4, slots: 2, requests: 2_400 };
    const runId = await cluster.post(plan);
    // The run outlasts by far what filling the disk takes, on a busy machine too.
    await cluster.until(() => target.counters.requestsSeen > before + 200);
    await disk.fill();
    // Small writes still find room in what the store has already; its report does not.
    await cluster.until(() => /trying again: .*No space left/.test(cluster.complaints()));
    await disk.empty();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.completed).toBe(2_400);
    // The cluster is as it was.
    const next = await cluster.report(await cluster.post({ ...plan, requests: 100 }));
    expect(next.ledger.problems).toEqual([]);
    expect(next.counters.completed).toBe(100);
  });
});
