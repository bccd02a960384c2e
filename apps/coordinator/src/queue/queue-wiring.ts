/** The one place that decides what carries the queue: Redis, or the database that the store is in. */
import {
  createPostgresBackend,
  createRedisBackend,
  type PgPool,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
} from 'bullmq';
import type { Store } from '../storage/store.js';
import { BullWiring, type QueueWiring } from './bull-wiring.js';
import { ensureQueueSchema } from './queue-schema.js';
import { connectRedis } from './redis-link.js';

const DEFAULT_PREFIX = 'broadside';
/** Every consumer and every listener holds one connection for good; the rest serves short statements. */
const QUEUE_POOL_SIZE = 64;
/** On a server connections are dear (100 by default, for everybody). */
const QUEUE_POOL_SIZE_ON_SERVER = 16;
/** BullMQ puts one listener on the pool for each of its objects. */
const MAX_POOL_LISTENERS = 1_000;

export interface QueueWiringOptions {
  /** `redis://…`; without it the queue lives in the store's database. */
  readonly redisUrl?: string;
  readonly store: Store;
  /** Before every key in Redis, so that several clusters can share one. */
  readonly prefix?: string;
  /** Errors that no caller is waiting for, for the log. Outages of Redis come apart, once each. */
  readonly onError?: (error: Error) => void;
  readonly onLost?: (where: string) => void;
  readonly onRestored?: (where: string) => void;
}

/**
 * @throws QueueError in one line when Redis cannot be used; within 5 s.
 */
export async function createQueueWiring(options: QueueWiringOptions): Promise<QueueWiring> {
  const ignore = (): void => undefined;
  const { redisUrl, store, prefix = DEFAULT_PREFIX, onError = ignore } = options;
  if (redisUrl === undefined) return createOnStore(store, prefix, onError);
  const link = await connectRedis(redisUrl, {
    onLost: options.onLost ?? ignore,
    onRestored: options.onRestored ?? ignore,
  });
  return new BullWiring({
    kind: 'redis',
    factory: createRedisBackend,
    connection: link.patient,
    producerConnection: link.impatient,
    redialProducers: () => link.redialImpatient(),
    prefix,
    onError,
    closeConnections: () => link.close(),
  });
}

async function createOnStore(
  store: Store,
  prefix: string,
  onError: (error: Error) => void,
): Promise<QueueWiring> {
  await ensureQueueSchema(store.pool);
  const pool = store.createPool(store.kind === 'pglite' ? QUEUE_POOL_SIZE : QUEUE_POOL_SIZE_ON_SERVER);
  pool.setMaxListeners(MAX_POOL_LISTENERS);
  // BullMQ describes the pool by a type of its own whose overloads TypeScript cannot match with those of
  // `pg`; its documentation names a `pg` pool as what to pass.
  const connection = pool as unknown as PgPool;
  return new BullWiring<PostgresQueueBackend, PostgresConnectionOptions>({
    kind: 'embedded',
    factory: createPostgresBackend,
    connection,
    producerConnection: connection,
    redialProducers: () => Promise.resolve(),
    prefix,
    onError,
    closeConnections: () => pool.end(),
  });
}
