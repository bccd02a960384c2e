// Redis that is not there at the start, refuses us, or goes away and comes back.

import { createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHARD_JOB_OPTIONS } from '../../apps/coordinator/dist/queue/bull-wiring.js';
import { createQueueWiring } from '../../apps/coordinator/dist/queue/queue-wiring.js';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';

const START_LIMIT_MS = 10_000;

describe('a queue wiring whose Redis', () => {
  let store: Store;
  beforeAll(async () => {
    store = await openStore();
  });
  afterAll(() => store.close());

  /** The message of the refusal and how long it took. */
  async function refusal(redisUrl: string): Promise<string> {
    const begin = performance.now();
    const outcome = await createQueueWiring({ store, redisUrl }).catch((error: unknown) => error);
    if (!(outcome instanceof Error)) throw new Error('it started');
    expect(performance.now() - begin).toBeLessThan(START_LIMIT_MS);
    expect(outcome.message).not.toContain('secret');
    expect(outcome.message).not.toContain('\n');
    return outcome.message;
  }

  /** A server that is not Redis, its address, and how to end it. */
  async function serve(onSocket: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    const stop = (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    };
    return { port: address.port, stop };
  }

  it('is not there gives up in bounded time and says where it looked', async () => {
    const { port, stop } = await serve(() => undefined);
    await stop();
    expect(await refusal(`redis://me:secret@127.0.0.1:${port}`)).toBe(
      `cannot use Redis at redis://127.0.0.1:${port}: nothing listens there; start Redis or correct the address`,
    );
  });

  it('accepts and never answers gives up in bounded time', async () => {
    const { port, stop } = await serve(() => undefined);
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('it does not answer');
    await stop();
  });

  it('is another kind of server gives up and says so', async () => {
    const { port, stop } = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('what listens there is not Redis');
    await stop();
  });

  describe.runIf(canRun('redis-server'))('is a real server', () => {
    it('wants another password than ours is told apart from one that wants any', async () => {
      const redis = await RedisServer.start({ password: 'open sesame' });
      try {
        const host = `127.0.0.1:${redis.port}`;
        expect(await refusal(`redis://:secret@${host}`)).toContain('user or password is wrong');
        expect(await refusal(`redis://${host}`)).toContain('it wants a password');
        const wiring = await createQueueWiring({ store, redisUrl: redis.url });
        await wiring.close();
      } finally {
        await redis.stop();
      }
    });

    it('is full at the first flow, or forgets its scripts: what comes later is added all the same', async () => {
      const redis = await RedisServer.start();
      const client = new Redis(redis.url);
      const wiring = await createQueueWiring({ store, redisUrl: redis.url });
      const flow = wiring.createFlowProducer();
      const child = { name: 'shard', queueName: 'shards-a', data: {}, opts: SHARD_JOB_OPTIONS };
      const add = () => flow.add({ name: 'run', queueName: 'runs', data: {}, children: [child] });
      try {
        await client.config('SET', 'maxmemory', '1mb');
        await expect(add()).rejects.toThrow(/EXECABORT|OOM/);
        await client.config('SET', 'maxmemory', '0');
        await add();
        await client.script('FLUSH');
        await Promise.all([add(), add()]);
        expect(await wiring.createQueue('shards-a').getJobCounts()).toMatchObject({ waiting: 3 });
      } finally {
        client.disconnect();
        await wiring.close();
        await redis.stop();
      }
    });

    it('is killed and restarted: adding fails at once meanwhile, and consumers go on afterwards', async () => {
      const redis = await RedisServer.start({ isDurable: true });
      const outages: string[] = [];
      const wiring = await createQueueWiring({
        store,
        redisUrl: redis.url,
        onLost: (where) => outages.push(`lost ${where}`),
        onRestored: (where) => outages.push(`restored ${where}`),
      });
      try {
        const done: unknown[] = [];
        const consumer = wiring.createConsumer<{ index: number }, null>(
          'shards-a',
          (job) => {
            done.push(job.data.index);
            return Promise.resolve(null);
          },
          { concurrency: 1 },
        );
        await consumer.waitUntilReady();
        const flow = wiring.createFlowProducer();
        const shard = (index: number) => ({
          name: 'shard',
          queueName: 'shards-a',
          data: { index },
          opts: SHARD_JOB_OPTIONS,
        });
        await flow.add(shard(1));
        await expect.poll(() => done).toEqual([1]);

        await redis.kill();
        const where = `redis://127.0.0.1:${redis.port}`;
        await expect.poll(() => outages).toEqual([`lost ${where}`]);
        const begin = performance.now();
        await expect(flow.add(shard(2))).rejects.toThrow(/writeable|closed|max retries/i);
        expect(performance.now() - begin).toBeLessThan(1_000);

        await redis.restart();
        await expect.poll(() => outages, { timeout: 15_000 }).toEqual([`lost ${where}`, `restored ${where}`]);
        await expect
          .poll(
            () =>
              flow.add(shard(3)).then(
                () => 'added',
                () => 'refused',
              ),
            { timeout: 15_000 },
          )
          .toBe('added');
        await expect.poll(() => done, { timeout: 15_000 }).toEqual([1, 3]);
      } finally {
        await wiring.close();
        await redis.stop();
      }
    });

    it('is lost while a producer opens: the producer works when it is back', async () => {
      const redis = await RedisServer.start({ isDurable: true });
      const wiring = await createQueueWiring({ store, redisUrl: redis.url });
      try {
        // Frozen, so that the question with which the producer opens is on its way when the server goes.
        process.kill(redis.pid, 'SIGSTOP');
        const flow = wiring.createFlowProducer();
        await redis.kill();
        await expect(flow.waitUntilReady()).rejects.toThrow('it does not answer');
        await redis.restart();
        const look = (): Promise<string> =>
          flow.getFlow({ queueName: 'runs', id: 'none' }).then(
            () => 'answered',
            (error: unknown) => String(error),
          );
        await expect.poll(look, { timeout: 15_000 }).toBe('answered');
        const added = await flow.add({ name: 'run', queueName: 'runs', opts: SHARD_JOB_OPTIONS });
        expect(added.job.id).toBeDefined();
      } finally {
        await wiring.close();
        await redis.stop();
      }
    });

    it('is away while a consumer opens: the consumer takes jobs when it is back', async () => {
      const redis = await RedisServer.start({ isDurable: true });
      const wiring = await createQueueWiring({ store, redisUrl: redis.url });
      try {
        await redis.kill();
        const done: unknown[] = [];
        const consumer = wiring.createConsumer<number, null>(
          'shards-a',
          (job) => {
            done.push(job.data);
            return Promise.resolve(null);
          },
          { concurrency: 1 },
        );
        const opened = consumer.waitUntilReady();
        // By then its first tries have failed.
        await expect(wiring.createFlowProducer().waitUntilReady()).rejects.toThrow('it does not answer');
        await redis.restart();
        await opened;
        const flow = wiring.createFlowProducer();
        const add = (): Promise<string> =>
          flow.add({ name: 'shard', queueName: 'shards-a', data: 7, opts: SHARD_JOB_OPTIONS }).then(
            () => 'added',
            (error: unknown) => String(error),
          );
        await expect.poll(add, { timeout: 15_000 }).toBe('added');
        await expect.poll(() => done, { timeout: 15_000 }).toEqual([7]);
      } finally {
        await wiring.close();
        await redis.stop();
      }
    });

    it('is gone when the wiring closes does not hold it up', async () => {
      const redis = await RedisServer.start();
      try {
        const wiring = await createQueueWiring({ store, redisUrl: redis.url });
        await wiring
          .createConsumer('shards-a', () => Promise.resolve(null), { concurrency: 1 })
          .waitUntilReady();
        wiring.createQueueEvents('shards-a');
        await redis.kill();
        const begin = performance.now();
        await wiring.close();
        expect(performance.now() - begin).toBeLessThan(15_000);
      } finally {
        await redis.stop();
      }
    });
  });
});
