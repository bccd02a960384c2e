import { type Agent, startAgent } from '@broadside/agent';
import { type PlanInput, ROUTES, type RunSummary, summaryText } from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorUnderTest, until } from './coordinator-under-test.js';

function fail(): never {
  throw new Error('the run has no report');
}

describe('a coordinator on Redis with three agents', () => {
  const logger = pino({ level: 'silent' });
  const agents: Agent[] = [];
  const target = new WellBehavedTarget();
  let redis: RedisServer;
  let under: CoordinatorUnderTest;

  beforeAll(async () => {
    redis = await RedisServer.start();
    under = await CoordinatorUnderTest.start({ redisUrl: redis.url });
    await target.start();
    const { url: coordinatorUrl, joinToken } = under.coordinator;
    for (const name of ['one', 'two', 'three']) {
      agents.push(await startAgent({ coordinatorUrl, joinToken, name, slots: 1, logger }));
    }
  });

  afterAll(async () => {
    for (const agent of agents) await agent.close();
    await under.coordinator.close();
    await target.stop();
    await redis.stop();
  });

  it('uses all of them, and every request is in the books once', async () => {
    expect(under.coordinator.agentQueue).toBeUndefined();
    const runId = await under.post({ target: target.url, requests: 5_003, connections: 7, probe: true });
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters).toMatchObject({ planned: 5_003, completed: 5_003, connectionsOpened: 7 });
    expect(report?.latency.total.count).toBe(5_003);
    const shares = report?.agents.map((agent) => [agent.name, agent.connections, agent.lost]);
    expect(shares?.sort()).toEqual([
      ['one', expect.any(Number), false],
      ['three', expect.any(Number), false],
      ['two', expect.any(Number), false],
    ]);
    expect(target.counters.requestsSeen).toBe(5_003);
    let balance = 0;
    for (const { planned, completed, failed, inFlight } of report?.seconds ?? []) {
      balance += planned - completed - failed;
      expect(balance).toBe(inFlight);
    }
  });

  it('starts and stops all agents at common instants, and tells how far off each was', async () => {
    const plan = { target: target.url, duration: '10m', connections: 6, slots: 3 };
    const seenBefore = target.counters.requestsSeen;
    const runId = await under.post(plan);
    const isRunning = async (): Promise<boolean> =>
      (await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`)).body.state === 'running';
    await until(isRunning);
    // The order to stop comes after the start instant, which is the future when it is named.
    await until(async () => target.counters.requestsSeen > seenBefore);
    await under.request('DELETE', `${ROUTES.runs}/${runId}`);
    const { report } = await under.finished(runId);
    expect(report?.ledger.problems).toEqual([]);
    for (const agent of report?.agents ?? []) {
      expect(agent.startSkewUs).toBeGreaterThanOrEqual(0);
      expect(agent.stopSkewUs).toBeGreaterThanOrEqual(0);
      for (const value of [agent.rateHz, agent.p50Us, agent.p99Us]) expect(value).toBeGreaterThan(0);
      expect(agent.busyShare).toBeGreaterThanOrEqual(0);
    }
    const timed = await under.finished(await under.post({ ...plan, duration: '1s' }));
    for (const shard of timed.report?.shards ?? []) expect(shard.stopSkewUs).toBeGreaterThanOrEqual(0);
    expect(summaryText(report ?? fail())).toMatch(
      /\n +requests\/s +share +p50 +p99 +failed +start +stop +busy\n/,
    );
  });

  it('tells two agents of one name apart', async () => {
    const { url: coordinatorUrl, joinToken } = under.coordinator;
    const double = await startAgent({ coordinatorUrl, joinToken, name: 'one', slots: 1, logger });
    expect(double.name).toBe('one (2)');
    await double.close();
  });

  it('gives each slot its share by weight, exactly, unless the plan wants equal shares', async () => {
    const { url: coordinatorUrl, joinToken } = under.coordinator;
    const strong = await startAgent({
      coordinatorUrl,
      joinToken,
      name: 'strong',
      slots: 1,
      weight: 3,
      logger,
    });
    try {
      const sharesOf = async (wish: Partial<PlanInput>): Promise<Map<string, (number | undefined)[]>> => {
        const plan = { target: target.url, requests: 6_003, connections: 60, slots: 4, ...wish };
        const { report } = await under.finished(await under.post(plan));
        expect(report?.ledger.problems).toEqual([]);
        expect(report?.counters).toMatchObject({ planned: 6_003, completed: 6_003 });
        const names = new Map(report?.agents.map(({ agentId, name }) => [agentId, name]));
        return new Map(
          report?.shards.map(({ agentId, connections, requests }) => [
            names.get(agentId) ?? '',
            [connections, requests],
          ]),
        );
      };
      const closed = await sharesOf({});
      expect(closed.get('strong')?.[0]).toBe(30);
      expect([3_001, 3_002]).toContain(closed.get('strong')?.[1]);
      expect(closed.get('one')?.[0]).toBe(10);
      const paced = await sharesOf({ rate: 12_000 });
      // 6 numbers to a round, three of them dealt to the strong one.
      expect(paced.get('strong')?.[0]).toBe(30);
      expect([3_001, 3_002]).toContain(paced.get('strong')?.[1]);
      const equal = await sharesOf({ weights: 'equal' });
      expect([...equal.values()].map(([connections]) => connections)).toEqual([15, 15, 15, 15]);
    } finally {
      await strong.close();
    }
  });
});
