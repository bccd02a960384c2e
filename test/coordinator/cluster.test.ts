import { type Agent, startAgent } from '@broadside/agent';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorUnderTest } from './coordinator-under-test.js';

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
});
