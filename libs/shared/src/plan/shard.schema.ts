import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { PROTOCOL_VERSION } from '../wire/protocol-version.js';

export const runIdSchema = z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'not a run id');
export const agentIdSchema = z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'not an agent id');

/** Names one attempt at one shard of one run; part of every message about a shard. */
export const shardAttemptSchema = z.object({
  runId: runIdSchema,
  shardIndex: z
    .int()
    .min(0)
    .max(LIMITS.maxShards - 1),
  attempt: z.int().min(1).max(1_000),
});

/** What one shard carries to an agent: complete, so that an engine needs to know nothing else of the plan. */
export const shardSchema = shardAttemptSchema.extend({
  protocol: z.literal(PROTOCOL_VERSION),
  shardCount: z.int().min(1).max(LIMITS.maxShards),
  target: z.object({
    scheme: z.enum(['http', 'https']),
    host: z.string().min(1).max(255),
    port: z.int().min(1).max(65_535),
    path: z.string().max(LIMITS.maxTargetLength),
  }),
  request: z.object({
    method: z.string().max(64),
    httpVersion: z.enum(['1.0', '1.1']),
    /** Complete header lines in order; nothing is added to them. */
    headerLines: z
      .array(
        z
          .string()
          .max(LIMITS.maxRequestHeaderBytes)
          .regex(/^[^\r\n\0]*$/),
      )
      .max(LIMITS.maxRequestHeaders + 10),
    /** The body as text (sent as UTF-8) or as base64; at most one of them. */
    body: z.string().max(LIMITS.maxRequestBodyBytes).optional(),
    bodyBase64: z
      .base64()
      .max(Math.ceil(LIMITS.maxRequestBodyBytes / 3) * 4)
      .optional(),
  }),
  keepAlive: z.boolean(),
  /** This shard's exact shares. */
  connections: z.int().min(1).max(LIMITS.maxConnections),
  requests: z.int().min(1).max(LIMITS.maxRequests).optional(),
  durationMs: z.int().min(1).max(LIMITS.maxDurationMs).optional(),
  timeoutMs: z.int().min(1).max(LIMITS.maxTimeoutMs),
  maxReplyHeaderBytes: z.int().min(1).max(LIMITS.maxReplyHeaderBytes),
  maxReplyBodyBytes: z.int().min(1).max(LIMITS.maxReplyBodyBytes),
  checkLength: z.boolean(),
  failOnStatus: z.boolean(),
  onSocketError: z.enum(['continue', 'stop']),
  /** True for the one shard of the run that sends the probe, as the first of its own requests. */
  probe: z.boolean(),
});

export type Shard = Readonly<z.infer<typeof shardSchema>>;
