// Somebody who can write to the queue's Redis, and wants to aim the cluster: with a real Redis, a real coordinator
// and real agents. The shards that are forged here aim at a target of the test on loopback.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, startAgent } from '@broadside/agent';
import { type AgentSummary, ROUTES, shardQueueOf, signedShardSchema } from '@broadside/shared';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shardOf } from '../agent/shard-of.js';
import { CoordinatorUnderTest, until } from '../coordinator/coordinator-under-test.js';
import { queuePrefixIn } from '../support/queue-prefix.js';
import { RedisServer } from '../support/redis.js';
import { TestSigner } from '../support/shard-signer.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';

describe('jobs that the coordinator did not write', () => {
  const victim = new WellBehavedTarget();
  const target = new WellBehavedTarget();
  const logged: string[] = [];
  let redis: RedisServer;
  let under: CoordinatorUnderTest;
  let agent: Agent;
  let connection: Redis;
  let queue: Queue;
  let events: QueueEvents;

  beforeAll(async () => {
    await Promise.all([victim.start(), target.start()]);
    redis = await RedisServer.start();
    const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    under = await CoordinatorUnderTest.start({ redisUrl: redis.url, joinToken: 'join', logger });
    const { url } = under.coordinator;
    agent = await startAgent({ coordinatorUrl: url, joinToken: 'join', slots: 2, logger });
    connection = new Redis(redis.url, { maxRetriesPerRequest: null });
    const prefix = await queuePrefixIn(connection);
    queue = new Queue(shardQueueOf(agent.id), { connection, prefix });
    events = new QueueEvents(shardQueueOf(agent.id), { connection, prefix });
    await events.waitUntilReady();
  });
  afterAll(async () => {
    await events.close();
    await queue.close();
    connection.disconnect();
    await agent.close();
    await under.coordinator.close();
    await redis.stop();
    await Promise.all([victim.stop(), target.stop()]);
  });

  const failureOf = async (data: unknown): Promise<string> => {
    const job = await queue.add('shard', data, { attempts: 1 });
    return job.waitUntilFinished(events, 60_000).then(
      () => 'it was carried out',
      (error: Error) => error.message,
    );
  };

  it('are refused: bare, signed by somebody else, for another agent, and again', async () => {
    const runId = await under.post({ target: target.url, requests: 200, connections: 2 });
    expect((await under.finished(runId)).state).toBe('finished');
    const [genuine] = await queue.getJobs(['completed']);
    const job = signedShardSchema.parse(genuine?.data);
    const aimed = shardOf(victim.port, { probe: false });
    expect(await failureOf(aimed)).toContain('is not signed');
    expect(await failureOf(new TestSigner().sign(aimed, agent.id))).toContain('signature of the coordinator');
    const redirected = job.order.replaceAll(String(target.port), String(victim.port));
    expect(redirected).not.toBe(job.order);
    expect(await failureOf({ ...job, order: redirected })).toContain('signature of the coordinator');
    expect(await failureOf(job)).toContain('was taken before');
    expect(victim.counters.connectionsOpen).toBe(0);
    expect(victim.counters.requestsSeen).toBe(0);
    expect(target.counters.requestsSeen).toBe(200);
  });

  it('are told by the agent and by the coordinator', async () => {
    await until(() => Promise.resolve(logged.some((line) => line.includes('did not sign'))));
    expect(logged.some((line) => line.includes('refused a job of the queue: the job is not signed'))).toBe(
      true,
    );
  });

  it('do not keep the agent from its own', async () => {
    const runId = await under.post({ target: target.url, requests: 300, connections: 2 });
    const detail = await under.finished(runId);
    expect(detail.report?.counters.completed).toBe(300);
    const { body } = await under.request<AgentSummary[]>('GET', ROUTES.agents);
    expect(body[0]?.freeSlots).toBe(2);
  });
});

describe('a coordinator that comes back in the middle of a run', () => {
  it('signs as before', async () => {
    // With a store that survives; the run goes on in test/faults, this looks at the key alone.
    const folder = await mkdtemp(join(tmpdir(), 'broadside-keys-'));
    const keysOf = async (): Promise<unknown> => {
      const under = await CoordinatorUnderTest.start({ dataDir: folder });
      const stranger = await under.join({ agentId: 'looks', slots: 1 });
      const welcome = await stranger.next((message) => message.kind === 'welcome');
      await under.dismissAgents();
      await under.coordinator.close();
      return 'shardKeys' in welcome ? welcome.shardKeys : undefined;
    };
    const before = await keysOf();
    expect(before).toHaveLength(1);
    expect(await keysOf()).toEqual(before);
    await rm(folder, { recursive: true, force: true });
  });
});
