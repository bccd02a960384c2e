// A Redis that answers and takes nothing: a replica, or one that is full.
import { type Agent, startAgent } from '@broadside/agent';
import { exitCodeOf } from '@broadside/shared';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { CoordinatorUnderTest, plan } from './coordinator-under-test.js';

describe.runIf(canRun('redis-server'))('a queue that refuses shards', () => {
  let redis: RedisServer;
  let admin: Redis;
  let under: CoordinatorUnderTest;
  let agent: Agent;

  beforeAll(async () => {
    redis = await RedisServer.start();
    admin = new Redis(redis.url);
    under = await CoordinatorUnderTest.start({ redisUrl: redis.url });
    const { url: coordinatorUrl, joinToken } = under.coordinator;
    agent = await startAgent({ coordinatorUrl, joinToken, slots: 1, logger: pino({ level: 'silent' }) });
  });
  afterAll(async () => {
    await agent.close();
    await under.coordinator.close();
    admin.disconnect();
    await redis.stop();
  });

  it('ends the run with what Redis said, as the cluster that could not and not the run', async () => {
    const replica = (): Promise<unknown> => admin.replicaof('127.0.0.1', 1);
    const full = (): Promise<unknown> => admin.config('SET', 'maxmemory', '1');
    for (const [begin, end, reason] of [
      [replica, () => admin.replicaof('NO', 'ONE'), "READONLY You can't write against a read only replica"],
      [full, () => admin.config('SET', 'maxmemory', '0'), 'OOM command not allowed'],
    ] as const) {
      await begin();
      const { state, reason: told, report } = await under.finished(await under.post(plan));
      await end();
      expect(state).toBe('aborted');
      expect(told).toContain(`the shards could not be handed to the queue: ${reason}`);
      if (report === undefined) throw new Error('the run has no report');
      expect(report.ledger.problems).toEqual([]);
      expect(exitCodeOf(report)).toBe(5);
    }
  });
});
