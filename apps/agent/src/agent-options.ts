import { availableParallelism, hostname } from 'node:os';
import { type Clock, monotonicClock, TRANSPORT_WISHES, type TransportWish } from '@broadside/engine/host';
import {
  BroadsideError,
  errorSerializers,
  type Labels,
  LIMITS,
  labelsSchema,
  OPEN_TARGETS,
  parseTargetRule,
  type TargetPolicyTexts,
} from '@broadside/shared';
import { type Logger, pino } from 'pino';
import type { ShardQueueWiring } from './queue/shard-queue-wiring.js';

/** Options that a person may have given wrongly. */
export type NamedOption =
  | 'coordinatorUrl'
  | 'joinToken'
  | 'name'
  | 'slots'
  | 'labels'
  | 'weight'
  | 'redisUrl'
  | 'transport';

export interface AgentOptions {
  /** `http://host:port` or `https://host:port` of the coordinator. */
  readonly coordinatorUrl: string;
  readonly joinToken: string;
  /**
   * Certificates (PEM) that the coordinator's must come from, instead of Node's own. `own-process`: any will do,
   * because nobody can stand between this agent and a coordinator in the same process.
   */
  readonly trust?: { readonly ca: string } | 'own-process';
  /** How people recognise this agent; the host name unless told. */
  readonly name?: string;
  /** Shards at a time, one engine thread each; the number of cores unless told. */
  readonly slots?: number;
  /** How much of a run each slot gets, compared with a usual one; absent: by its capacity, where that is measured. */
  readonly weight?: number;
  /**
   * The file that keeps what was measured of this machine: the agent measures its capacity before it joins, where
   * the file does not have it. Absent: it does not, and its slots count as usual ones.
   */
  readonly capacityFile?: string;
  /** What plans may choose this agent by. */
  readonly labels?: Labels;
  /** The coordinator's own queue, for an agent in the same process. Stays the caller's to close. */
  readonly queue?: ShardQueueWiring;
  /** Instead of the Redis address that the coordinator names, where this machine reaches it by another one. */
  readonly redisUrl?: string;
  /** How the engines speak to plain TCP targets; unless told the fastest way that works here. */
  readonly transport?: TransportWish;
  /**
   * Where this machine lets load go, whatever its coordinator allows; absent: everywhere but to link-local and
   * metadata addresses, which must be named.
   */
  readonly targets?: Partial<TargetPolicyTexts>;
  /** Nothing is logged unless given: whoever starts the agent owns the terminal. */
  readonly logger?: Logger;
  /** How long the first connection, to the coordinator and then to Redis, is tried; 10 s unless told. */
  readonly connectTimeoutMs?: number;
  /** What a person calls an option, for messages; its own name unless told. */
  readonly nameOf?: (option: NamedOption) => string;
  readonly clock?: Clock;
  /** 0 ≤ number < 1; spreads the moments of reconnecting. */
  readonly random?: () => number;
}

/** The options with every default filled in and every value checked. */
export interface CheckedOptions
  extends Required<
    Omit<
      AgentOptions,
      'coordinatorUrl' | 'queue' | 'redisUrl' | 'nameOf' | 'trust' | 'weight' | 'capacityFile' | 'targets'
    >
  > {
  readonly targets: TargetPolicyTexts;
  readonly coordinatorUrl: URL;
  readonly queue: ShardQueueWiring | undefined;
  readonly redisUrl: string | undefined;
  readonly weight: number | undefined;
  readonly capacityFile: string | undefined;
  readonly trust: AgentOptions['trust'];
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const MAX_SLOTS = LIMITS.maxShardsOfAgent;

/** @throws BroadsideError naming the first wrong value. */
export function checkOptions(options: AgentOptions): CheckedOptions {
  const { joinToken, queue, redisUrl, random = Math.random, clock = monotonicClock } = options;
  const { weight, capacityFile } = options;
  const { logger = pino({ level: 'silent' }), transport = 'auto' } = options;
  const name = options.name ?? hostname();
  const slots = options.slots ?? Math.min(availableParallelism(), MAX_SLOTS);
  const { nameOf = (option) => option } = options;
  const refuse = (option: NamedOption, problem: string): never => {
    throw new BroadsideError('invalid', `${nameOf(option)}: ${problem}`);
  };
  if (!Number.isInteger(slots) || slots < 1 || slots > MAX_SLOTS)
    refuse('slots', `must be a whole number from 1 to ${MAX_SLOTS}`);
  if (name.length < 1 || name.length > 255)
    refuse('name', 'the name of an agent must have 1 to 255 characters');
  if (weight !== undefined && !(weight >= LIMITS.minWeight && weight <= LIMITS.maxWeight))
    refuse('weight', `must be a number from ${LIMITS.minWeight} to ${LIMITS.maxWeight}`);
  const labels = labelsSchema.safeParse(options.labels ?? {});
  if (!labels.success) return refuse('labels', labels.error.issues[0]?.message ?? 'are not valid');
  if (!TRANSPORT_WISHES.includes(transport))
    refuse('transport', `must be one of ${TRANSPORT_WISHES.join(', ')}`);
  // Anything else cannot be put into a header; the token itself is not repeated.
  if (!/^[\x21-\x7e]+$/.test(joinToken))
    refuse('joinToken', 'the join token must be printable ASCII without blanks');
  // It may hold a password, so it is not repeated.
  if (redisUrl !== undefined && !isRedisUrl(redisUrl)) refuse('redisUrl', 'must look like redis://host:6379');
  const coordinatorUrl = urlOf(options.coordinatorUrl);
  if (coordinatorUrl === undefined) return refuse('coordinatorUrl', 'must look like http://coordinator:7070');
  return {
    coordinatorUrl,
    joinToken,
    name,
    slots,
    labels: labels.data,
    weight,
    capacityFile,
    queue,
    redisUrl,
    trust: options.trust,
    transport,
    targets: checkTargets(options.targets),
    // Whoever made the logger: an error of a library may hold a secret in a field that nobody knows.
    logger: logger.child({}, { serializers: errorSerializers(logger.isLevelEnabled('debug')) }),
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    clock,
    random,
  };
}

function checkTargets({ allow = [], deny = [] }: Partial<TargetPolicyTexts> = {}): TargetPolicyTexts {
  for (const text of [...allow, ...deny]) {
    const rule = parseTargetRule(text);
    if (typeof rule === 'string') throw new BroadsideError('invalid', `the target rule ${text}: ${rule}`);
  }
  return { allow: allow.length === 0 ? OPEN_TARGETS.allow : allow, deny };
}

function urlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '' || url.port === '0') return undefined;
  return /^https?:$/.test(url.protocol) ? url : undefined;
}

function isRedisUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^rediss?:$/.test(url.protocol) && url.host !== '' && url.port !== '0';
}
