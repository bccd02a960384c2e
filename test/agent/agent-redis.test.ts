import { fileURLToPath } from 'node:url';
import { type Agent, type AgentOptions, startAgent } from '@broadside/agent';
import {
  BroadsideError,
  counterOf,
  decodeTotals,
  type Shard,
  shardQueueOf,
  shardResultSchema,
} from '@broadside/shared';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorEnd } from './coordinator-end.js';
import { shardOf } from './shard-of.js';

const PREFIX = 'broadside-test';
const logger = pino({ level: 'silent' });
const toClose: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

interface Cluster {
  readonly redis: RedisServer;
  readonly coordinator: CoordinatorEnd;
  readonly targetPort: number;
}

async function openCluster(password?: string): Promise<Cluster> {
  const redis = await RedisServer.start({ isDurable: true, ...(password === undefined ? {} : { password }) });
  toClose.push(() => redis.stop());
  const coordinator = await CoordinatorEnd.open({ queue: { kind: 'redis', url: redis.url, prefix: PREFIX } });
  toClose.push(() => coordinator.close());
  const target = new WellBehavedTarget();
  const { port } = await target.start();
  toClose.push(() => target.stop());
  return { redis, coordinator, targetPort: port };
}

function start({ coordinator }: Cluster, options: Partial<AgentOptions> = {}): Promise<Agent> {
  return startAgent({ coordinatorUrl: coordinator.url, joinToken: 'secret', slots: 2, logger, ...options });
}

async function join(cluster: Cluster, options: Partial<AgentOptions> = {}): Promise<Agent> {
  const agent = await start(cluster, options);
  toClose.push(() => agent.close());
  return agent;
}

interface ShardQueue {
  /** Adds a shard, signed, and hands back its job's result, or rejects with the reason of its failure. */
  give(data: unknown): Promise<unknown>;
}

async function openQueue({ redis, coordinator }: Cluster, agent: Agent): Promise<ShardQueue> {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  connection.on('error', () => undefined);
  toClose.push(() => Promise.resolve(connection.disconnect()));
  const name = shardQueueOf(agent.id);
  const queue = new Queue(name, { connection, prefix: PREFIX });
  const events = new QueueEvents(name, { connection, prefix: PREFIX });
  queue.on('error', () => undefined);
  events.on('error', () => undefined);
  toClose.push(async () => {
    await events.close();
    await queue.close();
  });
  await events.waitUntilReady();
  return {
    give: async (data) => {
      const added = await queue.add('shard', coordinator.signer.sign(data, agent.id), { attempts: 1 });
      const result: unknown = await added.waitUntilFinished(events, 60_000);
      return result;
    },
  };
}

async function startWhenReady(coordinator: CoordinatorEnd, shard: Shard): Promise<void> {
  await coordinator.first('ready', (ready) => ready.shard.runId === shard.runId);
  const { runId, shardIndex, attempt } = shard;
  const startAtUs = coordinator.nowUs() + 50_000;
  coordinator.say({ kind: 'start', shard: { runId, shardIndex, attempt }, startAtUs });
}

function completedOf(result: unknown): number {
  const { totals } = shardResultSchema.parse(result);
  return counterOf(decodeTotals(Buffer.from(totals, 'base64')).counters, 'completed');
}

describe('an agent on Redis', () => {
  it('claims shards from its own queue, as many as it has slots, and returns their results', async () => {
    const cluster = await openCluster();
    const agent = await join(cluster);
    const queue = await openQueue(cluster, agent);
    const shards = [0, 1].map((shardIndex) =>
      shardOf(cluster.targetPort, { runId: `run-${shardIndex}`, shardIndex, requests: 200 + shardIndex }),
    );
    const results = shards.map((shard) => queue.give(shard));
    // Both must be ready at once before either is started: a barrier over slots would hang otherwise.
    for (const { runId } of shards) await cluster.coordinator.first('ready', (m) => m.shard.runId === runId);
    for (const shard of shards) await startWhenReady(cluster.coordinator, shard);
    expect((await Promise.all(results)).map(completedOf)).toEqual([200, 201]);
    await agent.close();
  });

  it('fails the job of an invalid shard with the reason', async () => {
    const cluster = await openCluster();
    const queue = await openQueue(cluster, await join(cluster));
    await expect(queue.give({ runId: 'r', shardIndex: 0, attempt: 1 })).rejects.toThrow(/not a valid shard/);
  });

  it('goes on with its shard while Redis is dead, and delivers the result afterwards', async () => {
    const cluster = await openCluster();
    const queue = await openQueue(cluster, await join(cluster));
    const shard = shardOf(cluster.targetPort, { requests: undefined, durationMs: 2_000 });
    const result = queue.give(shard);
    await startWhenReady(cluster.coordinator, shard);
    await cluster.coordinator.until(() => cluster.coordinator.intervalsOf(shard).length > 0, 'an interval');
    await cluster.redis.kill();
    // The load ends while Redis is away.
    const intervals = await cluster.coordinator.allIntervalsOf(shard);
    await cluster.redis.restart();
    const completed = completedOf(await result);
    expect(completed).toBeGreaterThan(0);
    expect(intervals.reduce((sum, { counters }) => sum + counterOf(counters, 'completed'), 0)).toBe(
      completed,
    );
    // And the next shard is claimed.
    const next = shardOf(cluster.targetPort, { runId: 'next', requests: 5 });
    const nextResult = queue.give(next);
    await startWhenReady(cluster.coordinator, next);
    expect(completedOf(await nextResult)).toBe(5);
  });

  it('delivers the results of its shards when it drains', async () => {
    const cluster = await openCluster();
    const agent = await join(cluster);
    const queue = await openQueue(cluster, agent);
    const shard = shardOf(cluster.targetPort, { requests: 1_000_000_000 });
    const result = queue.give(shard);
    await startWhenReady(cluster.coordinator, shard);
    await cluster.coordinator.until(() => cluster.coordinator.intervalsOf(shard).length > 0, 'an interval');
    const [drained] = await Promise.all([result, agent.drain()]);
    expect(completedOf(drained)).toBeGreaterThan(0);
  });

  it('leaves within its bound while Redis is dead', async () => {
    const cluster = await openCluster();
    const agent = await join(cluster);
    await cluster.redis.kill();
    const beganMs = performance.now();
    await agent.close();
    expect(performance.now() - beganMs).toBeLessThan(8_000);
  });

  it('leaves nothing that keeps its process alive, neither after a close nor after a start that failed', async () => {
    const { coordinator } = await openCluster();
    const script = `
      import { startAgent } from '@broadside/agent';
      import { pino } from 'pino';
      const options = { coordinatorUrl: '${coordinator.url}', slots: 2, logger: pino({ level: 'silent' }) };
      await startAgent({ ...options, joinToken: 'wrong' }).catch((error) => console.log(error.code));
      const redisUrl = 'redis://127.0.0.1:1';
      await startAgent({ ...options, joinToken: 'secret', redisUrl, connectTimeoutMs: 500 }).catch((error) =>
        console.log(error.code),
      );
      const agent = await startAgent({ ...options, joinToken: 'secret' });
      await agent.close();
      console.log('closed');
    `;
    const args = ['--input-type=module', '--unhandled-rejections=strict', '--eval', script];
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const ended = await runProcess(process.execPath, args, { cwd, timeoutMs: 30_000 });
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'unauthorized\nunavailable\nclosed\n', stderr: '' });
  });

  it('says in one line, without the password, that Redis does not let it in or cannot be reached', async () => {
    const cluster = await openCluster('correct-password');
    const failure = async (redisUrl: string): Promise<string> => {
      const error: unknown = await start(cluster, { redisUrl, connectTimeoutMs: 1_000 }).catch(
        (e: unknown) => e,
      );
      if (!(error instanceof BroadsideError)) throw new Error('no BroadsideError', { cause: error });
      return error.message;
    };
    const { port } = cluster.redis;
    const wrong = await failure(`redis://:wrong-password@127.0.0.1:${port}`);
    expect(wrong).toContain(`redis://127.0.0.1:${port}: user or password is wrong`);
    expect(wrong).not.toContain('wrong-password');
    expect(await failure('redis://127.0.0.1:1')).toContain('connection refused');
    expect(await failure('127.0.0.1')).toContain('must look like redis://');
  });
});
