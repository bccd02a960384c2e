import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { shardAttemptSchema } from '../plan/shard.schema.js';
import { targetPolicySchema } from '../policy/target-policy.schema.js';

/** Where an agent finds its shards. */
export const queueAddressSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('redis'), url: z.string().max(2_000), prefix: z.string().max(100) }),
  /** The queue lives inside the coordinator's process: only an agent in the same process can use it. */
  z.object({ kind: z.literal('embedded') }),
]);
export type QueueAddress = z.infer<typeof queueAddressSchema>;

const ackSchema = z.object({ shard: shardAttemptSchema, number: z.int().min(0) });

/** Coordinator to agent, as JSON text. */
export const coordinatorMessageSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('welcome'),
    protocol: z.int(),
    version: z.string().max(32),
    queue: queueAddressSchema,
    heartbeatMs: z.int().min(1),
    /** What the agent is called in reports, where another one has the name that it wanted. */
    name: z.string().max(LIMITS.maxNameLength).optional(),
    /** Where load may go; absent: nowhere. The agent has rules of its own beside these. */
    targets: targetPolicySchema.optional(),
    /** Public keys (SPKI, DER, base64) of whoever may sign shard jobs; absent: no job is taken. */
    shardKeys: z.array(z.base64().max(200)).max(LIMITS.maxShardKeys).optional(),
  }),
  /** The greeting was not accepted; the agent ends with this sentence. */
  z.object({ kind: z.literal('rejected'), reason: z.string().max(1_000) }),
  z.object({ kind: z.literal('clock-reply'), sentUs: z.number(), coordinatorUs: z.number() }),
  /** Send the probe now. */
  z.object({ kind: z.literal('probe'), shard: shardAttemptSchema }),
  /** Start at this instant of the coordinator's clock (µs since the epoch). */
  z.object({
    kind: z.literal('start'),
    shard: shardAttemptSchema,
    startAtUs: z.number(),
    /** When the load begins, where that is later: what the schedule has before is not this attempt's. */
    fromUs: z.number().optional(),
    /** Body length of the reference reply, where the plan compares lengths. */
    referenceBytes: z.number().int().min(0).optional(),
  }),
  /** End the load and report what was done. */
  z.object({
    kind: z.literal('stop'),
    shard: shardAttemptSchema,
    reason: z.string().max(200),
    /** At this instant of the coordinator's clock (µs since the epoch), the same for all agents; absent: now. */
    stopAtUs: z.number().optional(),
  }),
  /** End all load of all shards now, those too that this coordinator does not know of. */
  z.object({ kind: z.literal('halt'), reason: z.string().max(200) }),
  /** Intervals of this attempt with numbers up to and including `number` are stored. */
  ackSchema.extend({ kind: z.literal('ack') }),
  /** The same for several attempts of the agent at once. */
  z.object({ kind: z.literal('acks'), acks: z.array(ackSchema).min(1).max(LIMITS.maxBundledFrames) }),
  /** The attempt is fenced: stop its load at once and forget its frames. */
  z.object({ kind: z.literal('fenced'), shard: shardAttemptSchema }),
]);
export type CoordinatorMessage = z.infer<typeof coordinatorMessageSchema>;
