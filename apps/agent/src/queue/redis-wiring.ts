/** BullMQ on Redis, for an agent in a process of its own. */

import { BroadsideError } from '@broadside/shared';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { ShardQueueConsumer, ShardQueueWiring } from './shard-queue-wiring.js';

export interface RedisWiringOptions {
  /** `redis://` or `rediss://`; may hold a password, so it is never printed. */
  readonly url: string;
  readonly prefix: string;
  readonly logger: Logger;
  /** How long the first connection is tried. */
  readonly connectTimeoutMs: number;
}

export interface RedisWiring extends ShardQueueWiring {
  /** Ends the connection; consumers must have been closed before. */
  close(): void;
}

const MAX_RECONNECT_DELAY_MS = 2_000;
/**
 * A result can be delivered as long as the lock of its job lives, so this is the longest outage of Redis that
 * costs no result. Nobody else takes jobs from this queue: whether the agent lives, the coordinator learns from
 * its socket and not from this lock.
 */
const LOCK_DURATION_MS = 300_000;
const LOCK_RENEW_MS = 10_000;
/** After an outage the next shard is asked for this late at most; the default is 15 s. */
const RUN_RETRY_MS = 500;

/** @throws BroadsideError when Redis cannot be reached in time, or does not let us in. */
export async function connectRedisWiring(options: RedisWiringOptions): Promise<RedisWiring> {
  const { url, prefix, logger } = options;
  const where = describeRedis(url);
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    connectTimeout: 3_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
  });
  try {
    await firstConnection(redis, where, options.connectTimeoutMs);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const stopReporting = reportOutages(redis, where, logger);
  // BullMQ copies this connection for what blocks. A lazy copy is opened by BullMQ, which gives up for good at the
  // first failure; one that dials by itself is waited for, however long Redis is away.
  redis.options.lazyConnect = false;
  return {
    createConsumer: (name, processor, { concurrency }): ShardQueueConsumer => {
      const worker = new Worker(name, processor, {
        connection: redis,
        prefix,
        concurrency,
        // A shard whose agent stopped must never start again by itself: that would double its load.
        maxStalledCount: 0,
        lockDuration: LOCK_DURATION_MS,
        lockRenewTime: LOCK_RENEW_MS,
        runRetryDelay: RUN_RETRY_MS,
      });
      worker.on('error', (error) => logger.debug({ error: error.message }, 'queue'));
      return worker;
    },
    close: () => {
      stopReporting();
      redis.disconnect();
    },
  };
}

/** The address without user, password and options: for messages. */
function describeRedis(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.host === '') {
    throw new BroadsideError('invalid', 'the Redis address must look like redis://host:6379');
  }
  return `${parsed.protocol}//${parsed.host}`;
}

/** Waits until Redis is ready. Connecting goes on by itself after a failure, so only the time ends it. */
function firstConnection(redis: Redis, where: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = 'no answer';
    const giveUp = (): void => {
      clearTimeout(timer);
      redis.off('error', onError);
      redis.off('ready', onReady);
      // What it still emits while it is taken down has been told.
      redis.on('error', () => undefined);
      reject(
        new BroadsideError('unavailable', `cannot use the queue's Redis at ${where}: ${last}`, {
          hint: 'this machine must reach it by the address that the coordinator was given, or pass another one',
        }),
      );
    };
    const onError = (error: Error): void => {
      last = reasonOf(error);
      if (/WRONGPASS|NOAUTH|NOPERM/.test(error.message)) giveUp();
    };
    const onReady = (): void => {
      clearTimeout(timer);
      redis.off('error', onError);
      resolve();
    };
    const timer = setTimeout(giveUp, timeoutMs);
    redis.on('error', onError);
    redis.once('ready', onReady);
    redis.connect().catch(onError);
  });
}

function reasonOf(error: Error): string {
  if (/ECONNREFUSED/.test(error.message)) return 'connection refused';
  if (/ENOTFOUND|EAI_AGAIN/.test(error.message)) return 'host name not found';
  if (/WRONGPASS/.test(error.message)) return 'user or password is wrong';
  if (/NOAUTH/.test(error.message)) return 'it wants a password';
  return error.message.replaceAll(/\s+/g, ' ').slice(0, 200);
}

/**
 * One line per outage, not one per attempt.
 * @returns ends the reports: what breaks from then on is our own end of the connection.
 */
function reportOutages(redis: Redis, where: string, logger: Logger): () => void {
  let isUp = true;
  let isLeaving = false;
  redis.on('error', (error: Error) => {
    if (isUp && !isLeaving)
      logger.warn(`lost the queue's Redis at ${where}: ${reasonOf(error)}; running shards go on`);
    isUp = false;
  });
  redis.on('close', () => {
    if (isUp && !isLeaving) logger.warn(`lost the queue's Redis at ${where}; running shards go on`);
    isUp = false;
  });
  redis.on('ready', () => {
    if (!isUp) logger.warn(`the queue's Redis at ${where} is back`);
    isUp = true;
  });
  return () => {
    isLeaving = true;
  };
}
