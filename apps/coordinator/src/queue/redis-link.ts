import { setTimeout as delay } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { QueueError } from './queue-error.js';

/** A Redis that is just being started beside us gets this long; then the user gets an answer. */
const START_TIMEOUT_MS = 5_000;
const START_RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * For what never blocks on purpose: a server that takes a command and says nothing is as good as gone. Shards of
 * thousands of agents go over in one transaction, which takes some seconds.
 */
const COMMAND_TIMEOUT_MS = 10_000;
/** The same for the first word of all. */
const PROBE_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** After this a command that says good-bye is not waited for: the server may be gone. */
const QUIT_TIMEOUT_MS = 1_000;
const MINIMUM_VERSION = [6, 2] as const;

export interface RedisLinkEvents {
  /** The connection broke; it is being sought again, without end. Once per outage. */
  readonly onLost: (where: string) => void;
  /** It is back. */
  readonly onRestored: (where: string) => void;
}

/** The two connections of one process to one Redis. */
export interface RedisLink {
  /** For consumers and listeners: waits through an outage. */
  readonly patient: Redis;
  /** For whoever adds jobs: fails at once during an outage, so that no shard goes out minutes late. */
  readonly impatient: Redis;
  /** Resolves when that one has been dialled anew, or after a while. */
  redialImpatient(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects, checks the server's version, and from then on reconnects by itself.
 * @throws QueueError in one line when the address is wrong, or there is no answer within 5 s.
 */
export async function connectRedis(redisUrl: string, events: RedisLinkEvents): Promise<RedisLink> {
  const where = describeRedis(redisUrl);
  await probe(redisUrl, where);
  const common: RedisOptions = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
    lazyConnect: true,
  };
  const patient = new Redis(redisUrl, { ...common, maxRetriesPerRequest: null });
  const impatient = new Redis(redisUrl, {
    ...common,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  const close = async (): Promise<void> => {
    await Promise.all([quit(patient), quit(impatient)]);
  };
  reportOutages(patient, where, events);
  // Each try to reconnect emits one; the outage itself is reported once, above.
  impatient.on('error', () => undefined);
  patient.on('error', () => undefined);
  try {
    await Promise.all([patient.connect(), impatient.connect()]);
    dialAtOnce(patient);
  } catch (error) {
    await close();
    throw explain(error, where);
  }
  return { patient, impatient, redialImpatient: () => redial(impatient), close };
}

/**
 * BullMQ copies this connection for what blocks. A lazy copy is opened by BullMQ, which gives up for good at the first
 * failure; one that dials by itself is waited for, however long Redis is away.
 */
function dialAtOnce(redis: Redis): void {
  redis.options.lazyConnect = false;
}

/** The address without user, password and options: for messages. */
export function describeRedis(redisUrl: string): string {
  const url = URL.canParse(redisUrl) ? new URL(redisUrl) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.host === '') {
    // Not repeated here: a mistyped address may still hold a password.
    throw new QueueError('the Redis address must look like redis://host:6379');
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** Connects with throw-away connections until one works, the server refuses us, or the time is up. */
async function probe(redisUrl: string, where: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const failure = await tryOnce(redisUrl, where);
    if (failure === undefined) return;
    if (isFinal(failure) || performance.now() + START_RETRY_MS > deadline) throw explain(failure, where);
    await delay(START_RETRY_MS);
  }
}

/** @returns the failure, undefined when the server can be used. */
async function tryOnce(redisUrl: string, where: string): Promise<unknown> {
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    commandTimeout: PROBE_TIMEOUT_MS,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // What `connect` rejects with is only "connection is closed"; the reason comes as an event before it.
  let reason: unknown;
  redis.on('error', (error: unknown) => {
    reason ??= error;
  });
  try {
    await redis.connect();
    const info = await redis.info('server');
    assertVersion(info, where);
    // Refused while the server still loads its data, when `info` already answers.
    await redis.ping();
    return undefined;
  } catch (error) {
    return error instanceof QueueError ? error : (reason ?? error);
  } finally {
    redis.disconnect();
  }
}

function assertVersion(info: string, where: string): void {
  const version = /redis_version:(\d+)\.(\d+)\S*/.exec(info);
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1])) return;
  throw new QueueError(`the Redis at ${where} is version ${major}.${minor}; 6.2 or newer is needed`);
}

function reportOutages(redis: Redis, where: string, events: RedisLinkEvents): void {
  let isUp = false;
  let wasUp = false;
  redis.on('ready', () => {
    if (wasUp && !isUp) events.onRestored(where);
    isUp = true;
    wasUp = true;
  });
  redis.on('reconnecting', () => {
    if (isUp) events.onLost(where);
    isUp = false;
  });
}

async function redial(redis: Redis): Promise<void> {
  const back = new Promise<void>((resolve) => {
    redis.once('ready', resolve);
  });
  // Whoever asks while it is being dialled waits for the same.
  if (redis.status === 'ready') redis.disconnect(true);
  await Promise.race([back, delay(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
}

async function quit(redis: Redis): Promise<void> {
  if (redis.status === 'ready') {
    const goodbye = redis.quit().catch(() => undefined); // The server may close first, which is as good.
    await Promise.race([goodbye, delay(QUIT_TIMEOUT_MS, undefined, { ref: false })]);
  }
  redis.disconnect();
}

/** More tries would not help. */
function isFinal(failure: unknown): boolean {
  if (failure instanceof QueueError) return true;
  return (
    failure instanceof Error &&
    /WRONGPASS|NOAUTH|NOPERM|Protocol error|invalid DB|out of range/i.test(failure.message)
  );
}

function explain(failure: unknown, where: string): QueueError {
  if (failure instanceof QueueError) return failure;
  const message = failure instanceof Error ? failure.message : String(failure);
  const known: readonly (readonly [RegExp, string])[] = [
    [/WRONGPASS|invalid password/i, 'user or password is wrong'],
    [/NOAUTH/, 'it wants a password; put it into the address: redis://:password@host:port'],
    [/NOPERM/, 'this user may not do what the queue needs'],
    [/ECONNREFUSED/, 'nothing listens there; start Redis or correct the address'],
    [/ENOTFOUND|EAI_AGAIN/, 'the host name is unknown; correct the address'],
    [/Protocol error/i, 'what listens there is not Redis'],
    [/ETIMEDOUT|timed out/i, 'it does not answer; check the network and the address'],
  ];
  const reason = known.find(([pattern]) => pattern.test(message))?.[1] ?? message;
  return new QueueError(`cannot use Redis at ${where}: ${reason}`, { cause: failure });
}
