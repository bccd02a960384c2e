// One suite for every carrier of the queue: whoever uses it must not be able to tell.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type QueueWiring,
  RUN_JOB_OPTIONS,
  SHARD_JOB_OPTIONS,
} from '../../apps/coordinator/dist/queue/bull-wiring.js';
import { createQueueWiring } from '../../apps/coordinator/dist/queue/queue-wiring.js';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { PostgresServer } from '../support/postgres.js';
import { runProcess } from '../support/process.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';

interface Carrier {
  readonly store?: string;
  readonly redisUrl?: string;
  readonly stop: () => Promise<void>;
}

const carriers = [
  {
    name: 'in the embedded store',
    isAvailable: true,
    kind: 'embedded',
    start: (): Promise<Carrier> => Promise.resolve({ stop: () => Promise.resolve() }),
  },
  {
    name: 'in a store on a PostgreSQL server',
    isAvailable: canRun('initdb', 'postgres'),
    kind: 'embedded',
    start: async (): Promise<Carrier> => {
      const server = await PostgresServer.start();
      return { store: server.url, stop: () => server.stop() };
    },
  },
  {
    name: 'in Redis',
    isAvailable: canRun('redis-server'),
    kind: 'redis',
    start: async (): Promise<Carrier> => {
      const server = await RedisServer.start();
      return { redisUrl: server.url, stop: () => server.stop() };
    },
  },
] as const;

for (const { name, isAvailable } of carriers) {
  if (!isAvailable) process.stderr.write(`not installed, so not tested: the queue ${name}\n`);
}

const AGENTS = ['a', 'b', 'c'] as const;
const agentOf = (index: number): string => AGENTS[index % AGENTS.length] ?? 'a';

interface ShardData {
  readonly index: number;
  readonly addedAt: number;
}

const flowOf = (runId: string, count: number, options: object = SHARD_JOB_OPTIONS) => ({
  name: 'run',
  queueName: 'runs',
  data: { runId },
  opts: RUN_JOB_OPTIONS,
  children: Array.from({ length: count }, (_, index) => ({
    name: 'shard',
    queueName: `shards-${agentOf(index)}`,
    data: { index, addedAt: Date.now() },
    opts: options,
  })),
});

describe.each(carriers)('a queue $name', ({ isAvailable, kind, start }) => {
  describe.runIf(isAvailable)('and its user', () => {
    let carrier: Carrier;
    let store: Store;
    let wiring: QueueWiring;
    let errors: Error[];
    beforeAll(async () => {
      carrier = await start();
    });
    afterAll(() => carrier.stop());
    beforeEach(async () => {
      errors = [];
      store = await openStore(carrier.store === undefined ? {} : { databaseUrl: carrier.store });
      wiring = await createQueueWiring({
        store,
        onError: (error) => errors.push(error),
        ...(carrier.redisUrl === undefined ? {} : { redisUrl: carrier.redisUrl }),
      });
    });
    afterEach(async () => {
      await wiring.close();
      await store.close();
      if (errors.length > 0) throw new AggregateError(errors, 'the wiring reported errors');
    });

    /** A consumer of `runs`; `next` waits for the next run and gives what its shards returned, in order. */
    function collectRuns() {
      const runs: number[][] = [];
      const consumer = wiring.createConsumer<{ runId: string }, null>(
        'runs',
        async (job) => {
          const results = Object.values(await job.getChildrenValues<number>());
          runs.push(results.toSorted((one, other) => one - other));
          return null;
        },
        { concurrency: 2 },
      );
      const next = async (): Promise<number[] | undefined> => {
        await expect.poll(() => runs.length, { timeout: 20_000 }).toBeGreaterThan(0);
        return runs.shift();
      };
      return { consumer, next };
    }

    it('carries five shards to three agents and their results to the run, which claims at once', async () => {
      expect(wiring.kind).toBe(kind);
      const latenciesMs: number[] = [];
      const served = new Set<string>();
      const agents = AGENTS.map((agent) =>
        wiring.createConsumer<ShardData, number>(
          `shards-${agent}`,
          (job) => {
            latenciesMs.push(Date.now() - job.data.addedAt);
            served.add(`${agent} ${job.data.index}`);
            return Promise.resolve(job.data.index);
          },
          { concurrency: 2 },
        ),
      );
      const runs = collectRuns();
      await Promise.all([...agents, runs.consumer].map((consumer) => consumer.waitUntilReady()));
      const flow = wiring.createFlowProducer();
      for (const runId of ['cold', 'warm', 'warmer']) {
        // Long enough for every consumer to be asleep, which is what the measurement is about.
        await delay(300);
        await flow.add(flowOf(runId, 5));
        expect(await runs.next()).toEqual([0, 1, 2, 3, 4]);
      }
      expect([...served].toSorted()).toEqual(['a 0', 'a 3', 'b 1', 'b 4', 'c 2']);
      process.stderr.write(`${kind} ${store.kind}: claimed after ${latenciesMs.join(', ')} ms\n`);
      // A consumer that polls instead of being woken sleeps five seconds.
      expect(Math.max(...latenciesMs)).toBeLessThan(2_000);
    });

    it('gives the run its turn although a shard failed, and does not try that shard again', async () => {
      let failures = 0;
      for (const agent of AGENTS) {
        wiring.createConsumer<ShardData, number>(
          `shards-${agent}`,
          (job) => {
            if (job.data.index !== 1) return Promise.resolve(job.data.index);
            failures += 1;
            return Promise.reject(new Error('shot away'));
          },
          { concurrency: 1 },
        );
      }
      const runs = collectRuns();
      await wiring.createFlowProducer().add(flowOf('r', 3));
      expect(await runs.next()).toEqual([0, 2]);
      expect(failures).toBe(1);
    });

    it('never runs more jobs of a queue at once than the concurrency', async () => {
      let active = 0;
      let most = 0;
      let done = 0;
      wiring.createConsumer(
        'shards-a',
        async () => {
          most = Math.max(most, ++active);
          await delay(20);
          active -= 1;
          done += 1;
          return null;
        },
        { concurrency: 3 },
      );
      const queue = wiring.createQueue('shards-a');
      await Promise.all(
        Array.from({ length: 12 }, (_, index) => queue.add('shard', { index }, SHARD_JOB_OPTIONS)),
      );
      await expect.poll(() => done, { timeout: 20_000 }).toBe(12);
      expect(most).toBe(3);
    });

    it('tells listeners of a queue what ended', async () => {
      const ended: string[] = [];
      const events = wiring.createQueueEvents('shards-b');
      events.on('completed', ({ jobId }) => ended.push(jobId));
      await events.waitUntilReady();
      wiring.createConsumer('shards-b', () => Promise.resolve(null), { concurrency: 1 });
      const queue = wiring.createQueue('shards-b');
      // Listening begins a moment after the connection is ready, so the first event may come too early.
      const added: (string | undefined)[] = [];
      await expect
        .poll(
          async () => {
            added.push((await queue.add('shard', {}, SHARD_JOB_OPTIONS)).id);
            return ended.some((id) => added.includes(id));
          },
          { timeout: 20_000 },
        )
        .toBe(true);
    });

    it('takes a job from a queue before an agent claims it', async () => {
      const queue = wiring.createQueue('shards-nobody');
      const job = await queue.add('shard', { index: 0 }, SHARD_JOB_OPTIONS);
      expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
      expect(await queue.remove(job.id ?? '')).toBe(1);
      expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 0 });
    });

    it('closes at once, twice as once, and with consumers asleep', async () => {
      const consumer = wiring.createConsumer('shards-c', () => Promise.resolve(null), { concurrency: 1 });
      wiring.createQueueEvents('shards-c');
      await consumer.waitUntilReady();
      const begin = performance.now();
      await Promise.all([wiring.close(), wiring.close()]);
      expect(performance.now() - begin).toBeLessThan(3_000);
    });

    it('closes when a consumer was closed before it had opened', { timeout: 30_000 }, async () => {
      await wiring.createConsumer('shards-c', () => Promise.resolve(null), { concurrency: 1 }).close();
      await expect(wiring.close()).resolves.toBeUndefined();
    });

    it('lets the process end by itself once it is closed', async () => {
      const dist = new URL('../../apps/coordinator/dist/', import.meta.url).href;
      const options = JSON.stringify({ databaseUrl: carrier.store, redisUrl: carrier.redisUrl });
      const result = await runProcess(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `
          const { openStore } = await import('${dist}storage/store.js');
          const { createQueueWiring } = await import('${dist}queue/queue-wiring.js');
          const { databaseUrl, redisUrl } = ${options};
          const store = await openStore({ databaseUrl });
          const wiring = await createQueueWiring({ store, redisUrl });
          let run;
          const shards = wiring.createConsumer('shards-exit', async () => 1, { concurrency: 1 });
          const runs = wiring.createConsumer('runs-exit', async () => run(), { concurrency: 1 });
          wiring.createQueueEvents('runs-exit');
          const ran = new Promise((resolve) => { run = resolve; });
          await wiring.createFlowProducer().add({ name: 'run', queueName: 'runs-exit',
            children: [{ name: 'shard', queueName: 'shards-exit' }] });
          await ran;
          await wiring.close();
          await store.close();
          console.log('closed');`,
        ],
        { timeoutMs: 20_000 },
      );
      expect(result).toMatchObject({ exitCode: 0, stdout: 'closed\n', stderr: '' });
    });
  });
});
