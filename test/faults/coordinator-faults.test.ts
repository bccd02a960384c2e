import { createServer, type Server, type Socket } from 'node:net';
import { COUNTER_NAMES, counterOf } from '@broadside/shared';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectBins, sum } from '../support/added-up.js';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { FaultyCluster } from './faulty-cluster.js';
import { ownTotals } from './own-totals.js';

const NAMES = ['one', 'two', 'three'];
const DELAY_MS = 20;

describe.runIf(canRun('redis-server'))('in the middle of a run', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let cluster: FaultyCluster;

  beforeAll(async () => {
    await target.start();
    cluster = await FaultyCluster.start();
  });
  beforeEach(() => cluster.haveAgents(NAMES, 2));
  afterAll(async () => {
    await cluster.stop();
    await target.stop();
  });

  function planOf(load: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { target: `${target.url}/`, connections: 6, slots: 3, timeout: '2s', ...load };
  }

  async function underLoad(seconds: number): Promise<void> {
    const before = target.counters.requestsSeen;
    await cluster.until(() => target.counters.requestsSeen > before);
    await waited(seconds);
  }

  async function waited(seconds: number): Promise<void> {
    const sinceMs = performance.now();
    await cluster.until(() => performance.now() - sinceMs > seconds * 1_000);
  }

  it('the coordinator is killed and started again: the report is that of an undisturbed run', async () => {
    const seenBefore = target.counters.requestsSeen;
    const runId = await cluster.post(planOf({ requests: 2_000 }));
    await underLoad(1.5);
    await cluster.coordinator.kill();
    await waited(1);
    const sinceMs = performance.now();
    await cluster.startCoordinator();
    const report = await cluster.report(runId);
    console.log(`the coordinator was back after ${Math.round(performance.now() - sinceMs)} ms, run included`);
    expect(report.ledger.problems).toEqual([]);
    // Equal to the agents' own totals, as they left them in the queue, in every counter and bin.
    const own = await ownTotals(cluster.redis.url, report);
    expect(own).toHaveLength(3);
    for (const name of COUNTER_NAMES) {
      expect(report.counters[name], name).toBe(sum(own.map((totals) => counterOf(totals.counters, name))));
    }
    expectBins(report.latency.total, own, ['fresh', 'reused']);
    expectBins(report.latency.wait, own, ['wait']);
    expectBins(report.latency.connect, own, ['connect']);
    expect(report.losses).toBeUndefined();
    expect(report.counters).toMatchObject({ planned: 2_000, sent: 2_000, completed: 2_000 });
    expect(report.latency.total.count).toBe(2_000);
    expect(target.counters.requestsSeen - seenBefore).toBe(2_000);
    expect(report.shards.every((shard) => shard.transport !== undefined)).toBe(true);
    expect(report.seconds.reduce((sum, second) => sum + second.completed, 0)).toBe(2_000);
    expect(report.verdict.outcome).toBe('pass');
  });

  it('the coordinator is away until all agents have ended: nothing is lost', async () => {
    const seenBefore = target.counters.requestsSeen;
    const runId = await cluster.post(planOf({ requests: 600 }));
    await underLoad(0.7);
    await cluster.coordinator.kill();
    await cluster.until(() => target.counters.requestsSeen - seenBefore === 600);
    await waited(1.5);
    await cluster.startCoordinator();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.completed).toBe(600);
    expect(report.latency.total.count).toBe(600);
  });

  it('the coordinator and an agent are killed: the restarted one misses the agent, and re-issues', async () => {
    const runId = await cluster.post(planOf({ requests: 4_500 }));
    await underLoad(2);
    await cluster.coordinator.kill();
    await cluster.agent('two').kill();
    await waited(0.5);
    await cluster.startCoordinator();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses?.[0]).toMatchObject({ agentName: 'two', cause: 'lost', rest: 'taken' });
    expect(report.counters.sent).toBe(4_500);
    expect(report.counters.completed + report.lostWithAgent).toBe(4_500);
  });

  it('Redis is killed and started again: running shards go on, and their results arrive', async () => {
    const runId = await cluster.post(planOf({ requests: 1_500 }));
    await underLoad(1);
    await cluster.redis.kill();
    await waited(2);
    await cluster.redis.restart();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.completed).toBe(1_500);
    expect(report.verdict.outcome).toBe('pass');
  });

  it('Redis is gone for 20 s, longer than the load: the results are there when it is back', async () => {
    const runId = await cluster.post(planOf({ requests: 900 }));
    await underLoad(1);
    await cluster.redis.kill();
    await waited(20);
    await cluster.redis.restart();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.completed).toBe(900);
  });

  it('Redis is gone while an agent is killed: the rest goes out when it is back', async () => {
    const runId = await cluster.post(planOf({ requests: 2_400 }));
    await underLoad(1.5);
    await cluster.redis.kill();
    await cluster.agent('two').kill();
    await waited(3);
    await cluster.redis.restart();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses?.[0]).toMatchObject({ agentName: 'two', rest: 'taken' });
    expect(report.counters.sent).toBe(2_400);
  });

  it('Redis comes back without what it held: everything is counted, and the report says what is missing', async () => {
    const runId = await cluster.post(planOf({ requests: 1_500 }));
    await underLoad(1);
    const redis = new Redis(cluster.redis.url);
    await redis.flushall();
    redis.disconnect();
    await cluster.redis.kill();
    await waited(1);
    await cluster.redis.restart();
    const report = await cluster.report(runId);
    expect(report.counters.completed).toBe(1_500);
    expect(report.verdict.outcome).toBe('inconclusive');
    const said = report.warnings?.join('\n');
    expect(said).toMatch(/came back without this run: its agents' own totals cannot come any more/);
  });
});

/** A target that can die and return on the same port. */
class MortalTarget {
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  port = 0;
  connects = 0;

  async rise(): Promise<void> {
    const server = createServer((socket) => {
      this.connects++;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('data', () => {
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), DELAY_MS);
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    this.port = address.port;
  }

  async die(): Promise<void> {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()));
  }
}

describe.runIf(canRun('redis-server'))('a target that dies and returns', () => {
  let cluster: FaultyCluster;
  beforeAll(async () => {
    cluster = await FaultyCluster.start();
    await cluster.haveAgents(['one', 'two'], 1);
  });
  afterAll(() => cluster.stop());

  it('is data: counted by class, not flooded with connects, and the load goes on when it is back', async () => {
    const target = new MortalTarget();
    await target.rise();
    const runId = await cluster.post({
      target: `http://127.0.0.1:${target.port}/`,
      connections: 4,
      duration: '7s',
    });
    await cluster.until(() => target.connects === 4);
    const upMs = performance.now();
    await cluster.until(() => performance.now() - upMs > 2_000);
    await target.die();
    const deadMs = performance.now();
    await cluster.until(() => performance.now() - deadMs > 2_000);
    await target.rise();
    const report = await cluster.report(runId);
    await target.die();
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses).toBeUndefined();
    const { connectRefused, resetBeforeFirstByte, closedWithoutReplyReused, completed } = report.counters;
    expect(resetBeforeFirstByte + closedWithoutReplyReused).toBeGreaterThan(0);
    expect(connectRefused).toBeGreaterThan(0);
    // Four connections that try for two seconds with a pause that doubles.
    expect(connectRefused).toBeLessThan(4 * 40);
    expect(completed).toBeGreaterThan(100);
    expect(report.seconds.at(-2)?.completed).toBeGreaterThan(0);
  });
});
