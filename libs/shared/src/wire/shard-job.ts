import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { fatalSchema } from '../metrics/fatal.js';
import { agentIdSchema, runIdSchema, type Shard, shardAttemptSchema } from '../plan/shard.schema.js';
import { PROTOCOL_VERSION } from './protocol-version.js';
import { failureReasonSchema, tlsFactsSchema } from './tls-facts.js';

/** Queue of the parent jobs: one per run; it becomes active when all shard jobs have ended. */
export const RUN_QUEUE = 'broadside-runs';

/**
 * What a parent job holds: its run, and which of the run's groups of shards it waits for. Group 0 are the first
 * attempts; each later attempt is a group of its own.
 */
export const runJobSchema = z.object({ runId: runIdSchema, group: z.int().min(0) });

/** Each agent has a queue of its own, so that the planner decides which agent gets which shard. */
export function shardQueueOf(agentId: string): string {
  return `broadside-shards-${agentId}`;
}

/**
 * What a shard job holds. The signature (Ed25519, by the coordinator) is over the bytes of the order, which is JSON
 * text of a `ShardOrder`: signed as text, because the same value can be written in many ways.
 */
export const signedShardSchema = z.object({
  protocol: z.literal(PROTOCOL_VERSION),
  order: z.string().max(LIMITS.maxShardOrderLength),
  signature: z.base64().max(100),
});
export type SignedShard = z.infer<typeof signedShardSchema>;

/** What is signed: the shard, for whom it is, and until when it may be taken. The shard is checked by itself. */
export const shardOrderSchema = z.object({
  agentId: agentIdSchema,
  /** µs of the coordinator's clock. */
  expiresAtUs: z.number(),
  shard: z.unknown(),
});
export type ShardOrder = z.infer<typeof shardOrderSchema> & { readonly shard: Shard };

/** Result of a shard job: its own totals, for comparison with the sum of its intervals. */
export const shardResultSchema = shardAttemptSchema.extend({
  /** Totals frame (wire/frame.ts) in base64. */
  totals: z.base64(),
  /** Addresses the name was resolved to; the first of those that were used comes first. */
  addresses: z.array(z.string().max(64)).max(64),
  /** How many of them were used, counted from the first; absent: one. */
  addressesUsed: z.int().min(0).max(64).optional(),
  /** Start instant as this agent reached it, minus the one asked for, in µs of the coordinator's clock. */
  startSkewUs: z.number(),
  /** The same for the end of the sending, where a time or an order ended it: not where its requests were used up. */
  stopSkewUs: z.number().optional(),
  /** `Server` header of the first reply. */
  server: z.string().max(200).optional(),
  /** What was read of the probe's reply, one character for each byte. */
  firstReply: z
    .string()
    .max(LIMITS.maxFirstReplyBytes + 1_024)
    .optional(),
  transport: z.string().max(16),
  /** Why a slower transport was used than could be, in one line. */
  transportNote: z.string().max(300).optional(),
  tls: tlsFactsSchema.optional(),
  /** Why connections failed, where the class does not say it. */
  failureReasons: z.array(failureReasonSchema).max(LIMITS.maxFailureReasons).optional(),
  /** The address that was used belongs to the agent's own machine. */
  sharesMachine: z.boolean().optional(),
  fatal: fatalSchema.optional(),
});
export type ShardResult = z.infer<typeof shardResultSchema>;
