import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { PROTOCOL_VERSION } from '../wire/protocol-version.js';
import { ARRIVALS } from './load-fields.js';
import { TLS_VERSIONS } from './tls.schema.js';

export const runIdSchema = z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'not a run id');
/** What lines for people call a run: enough to tell it from others, and a prefix that `broadside report` takes. */
export function shortRunId(runId: string): string {
  return runId.slice(0, 8);
}

export const agentIdSchema = z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'not an agent id');

/** Text that stands in the head of a request: what would end its line could add requests that nobody planned. */
function headText(mostCharacters: number) {
  return z
    .string()
    .max(mostCharacters)
    .regex(/^[^\r\n\0]*$/, 'must not hold a line break');
}

/** Part of a request line: beside that no blank, which ends the part. */
function requestLinePart(mostCharacters: number) {
  return headText(mostCharacters).regex(/^[^\0-\x20\x7f]*$/, 'must not hold a blank');
}

/** Names one attempt at one shard of one run; part of every message about a shard. */
export const shardAttemptSchema = z.object({
  runId: runIdSchema,
  shardIndex: z
    .int()
    .min(0)
    .max(LIMITS.maxShards - 1),
  attempt: z.int().min(1).max(1_000),
});

/** How connections are made, and through what. Everything is optional: the simplest is plain TCP. */
export const shardConnectionSchema = z.object({
  /** Longest time until a connection is open; absent: `timeoutMs` alone bounds it. */
  connectTimeoutMs: z.int().min(1).max(LIMITS.maxTimeoutMs).optional(),
  /** Path to connect to instead of host and port. */
  unixSocket: z.string().max(LIMITS.maxUnixSocketPathBytes).optional(),
  /** Place to connect to instead of the target's. */
  connectTo: z.object({ host: z.string().min(1).max(255), port: z.int().min(1).max(65_535) }).optional(),
  /** Local addresses for the connections, in turn. */
  bind: z.array(z.string().max(64)).min(1).max(LIMITS.maxBindAddresses).optional(),
  addresses: z.enum(['first', 'spread']).optional(),
  socketBufferBytes: z.int().min(1).max(LIMITS.maxSocketBufferBytes).optional(),
  /** Connect here instead. With connect lines a tunnel is asked for by them before anything else. */
  proxy: z
    .object({
      host: z.string().min(1).max(255),
      port: z.int().min(1).max(65_535),
      connectLines: z.array(headText(LIMITS.maxRequestHeaderBytes)).max(8),
    })
    .optional(),
  /** Present exactly where the target's scheme is https. */
  tls: z
    .object({
      verify: z.boolean(),
      /** Name to send; empty for none. */
      serverName: z.string().max(255),
      /** Host that the certificate must be made out to. */
      verifyName: z.string().max(255),
      minVersion: z.enum(TLS_VERSIONS).optional(),
      maxVersion: z.enum(TLS_VERSIONS).optional(),
      ciphers: z.string().max(4_096).optional(),
      cert: z.string().max(LIMITS.maxPemBytes).optional(),
      key: z.string().max(LIMITS.maxPemBytes).optional(),
      ca: z.string().max(LIMITS.maxCaBytes).optional(),
      resumeSessions: z.boolean(),
    })
    .optional(),
});
export type ShardConnection = Readonly<z.infer<typeof shardConnectionSchema>>;

/** The schedule of all shards together, and which part of it is this shard's. */
export const shardPacingSchema = z.object({
  arrivals: z.enum(ARRIVALS),
  seed: z.int().min(0).max(LIMITS.maxSeed),
  /** Requests per second over all shards: throughout, or what the first stage begins with. */
  rate: z.number().min(0).max(LIMITS.maxRate),
  stages: z
    .array(
      z.object({
        durationMs: z.int().min(1).max(LIMITS.maxDurationMs),
        rate: z.number().min(0).max(LIMITS.maxRate),
      }),
    )
    .max(LIMITS.maxStages)
    .optional(),
  /** The shard sends number firstIndex, firstIndex + stride, … of the whole schedule. */
  firstIndex: z.int().min(0).max(LIMITS.maxRequests),
  stride: z.int().min(1).max(LIMITS.maxRound),
  /**
   * Where shards have weights: it sends these of each `stride` numbers, rising, the first of them `firstIndex`.
   * Absent: only that one.
   */
  lanes: z
    .array(
      z
        .int()
        .min(0)
        .max(LIMITS.maxRound - 1),
    )
    .min(1)
    .max(LIMITS.maxLanes)
    .optional(),
});
export type ShardPacing = Readonly<z.infer<typeof shardPacingSchema>>;

/** What one shard carries to an agent: complete, so that an engine needs to know nothing else of the plan. */
export const shardSchema = shardAttemptSchema.extend({
  protocol: z.literal(PROTOCOL_VERSION),
  shardCount: z.int().min(1).max(LIMITS.maxShards),
  target: z.object({
    scheme: z.enum(['http', 'https']),
    host: z.string().min(1).max(255),
    port: z.int().min(1).max(65_535),
    path: requestLinePart(LIMITS.maxTargetLength),
  }),
  request: z.object({
    method: requestLinePart(64),
    httpVersion: z.enum(['1.0', '1.1']),
    /** What stands in the request line instead of the path: the whole address, where a proxy reads it. */
    requestTarget: requestLinePart(LIMITS.maxTargetLength + 10).optional(),
    /** Complete header lines in order; nothing is added to them. */
    headerLines: z.array(headText(LIMITS.maxRequestHeaderBytes)).max(LIMITS.maxRequestHeaders + 10),
    /** The body as text (sent as UTF-8) or as base64; at most one of them. */
    body: z.string().max(LIMITS.maxRequestBodyBytes).optional(),
    bodyBase64: z
      .base64()
      .max(Math.ceil(LIMITS.maxRequestBodyBytes / 3) * 4)
      .optional(),
  }),
  connection: shardConnectionSchema.optional(),
  keepAlive: z.boolean(),
  /** This shard's exact shares. */
  connections: z.int().min(1).max(LIMITS.maxConnections),
  requests: z.int().min(0).max(LIMITS.maxRequests).optional(),
  durationMs: z.int().min(1).max(LIMITS.maxDurationMs).optional(),
  /** Present: requests are sent by this schedule. Absent: each connection sends when its reply is complete. */
  pacing: shardPacingSchema.optional(),
  /** Of the whole run: connection number i is kept busy while the stages ask for more than i. */
  connectionStages: z
    .array(
      z.object({
        durationMs: z.int().min(1).max(LIMITS.maxDurationMs),
        connections: z.int().min(0).max(LIMITS.maxConnections),
      }),
    )
    .max(LIMITS.maxStages)
    .optional(),
  /** Comes before `durationMs` and `requests`; whole intervals. */
  warmupMs: z.int().min(LIMITS.intervalMs).multipleOf(LIMITS.intervalMs).max(LIMITS.maxDurationMs).optional(),
  /** Requests in flight on one connection at most; absent: 1. */
  pipeline: z.int().min(1).max(LIMITS.maxPipeline).optional(),
  retryIdempotent: z.boolean().optional(),
  timeoutMs: z.int().min(1).max(LIMITS.maxTimeoutMs),
  maxReplyHeaderBytes: z.int().min(1).max(LIMITS.maxReplyHeaderBytes),
  maxReplyBodyBytes: z.int().min(1).max(LIMITS.maxReplyBodyBytes),
  checkLength: z.boolean(),
  failOnStatus: z.boolean(),
  onSocketError: z.enum(['continue', 'stop']),
  /** True for the one shard of the run that sends the probe, as the first of its own requests. */
  probe: z.boolean(),
  /** What is read of the probe's reply is to be told with the shard's result. */
  keepFirstReply: z.boolean().optional(),
});

export type Shard = Readonly<z.infer<typeof shardSchema>>;
