import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { fatalSchema } from '../metrics/fatal.js';
import { labelsSchema } from '../plan/labels.js';
import { agentIdSchema, shardAttemptSchema } from '../plan/shard.schema.js';
import { machineSchema } from './machine.schema.js';
import { slotStrengthFields } from './slot-strength.js';

/** What the check before the load has to say about one shard, one sentence each (machine, reason, advice). */
export const preflightWarningsSchema = z.array(z.string().max(500)).max(16);

/** Result of the probe: the first request of the run, sent alone. */
export const probeResultSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    bodyBytes: z.number().int().min(0),
    status: z.int().min(100).max(999),
    server: z.string().max(200).optional(),
  }),
  z.object({ ok: z.literal(false), fatal: fatalSchema }),
]);
export type ProbeResult = z.infer<typeof probeResultSchema>;

/** Agent to coordinator, as JSON text; interval frames go beside them as binary messages. */
export const agentMessageSchema = z.discriminatedUnion('kind', [
  /** First message on a socket. `protocol` is checked before everything else. */
  z.object({
    kind: z.literal('hello'),
    protocol: z.int(),
    agentId: agentIdSchema,
    name: z.string().min(1).max(255),
    version: z.string().max(32),
    slots: z.int().min(1).max(LIMITS.maxShardsOfAgent),
    /** Room for attempts that take over rests, beside its slots. Absent: none. */
    extraSlots: z.int().min(0).max(LIMITS.maxShardsOfAgent).optional(),
    machine: machineSchema,
    /** What a plan may choose agents by. */
    labels: labelsSchema.optional(),
    ...slotStrengthFields,
    /** Attempts that are still alive on the agent when it comes back after a broken socket. */
    attempts: z.array(shardAttemptSchema).max(LIMITS.maxShardsOfAgent),
  }),
  z.object({ kind: z.literal('heartbeat'), freeSlots: z.int().min(0).max(LIMITS.maxShardsOfAgent) }),
  /** A round trip to measure the clock offset; times are µs of the sender's clock. */
  z.object({ kind: z.literal('clock-probe'), sentUs: z.number() }),
  /** Estimate of coordinator clock minus agent clock, with half the smallest round trip as its uncertainty. */
  z.object({ kind: z.literal('clock-offset'), offsetUs: z.number(), uncertaintyUs: z.number().min(0) }),
  /** A slot holds the shard and can start. The warnings say what of this machine may spoil its numbers. */
  z.object({
    kind: z.literal('ready'),
    shard: shardAttemptSchema,
    warnings: preflightWarningsSchema.optional(),
  }),
  /** The shard cannot start: name not found, address not allowed, job not valid, too little of something. */
  z.object({ kind: z.literal('refused'), shard: shardAttemptSchema, fatal: fatalSchema }),
  z.object({ kind: z.literal('probed'), shard: shardAttemptSchema, result: probeResultSchema }),
  /**
   * A fenced attempt has ended: requests that it had taken up in all, in its intervals and after them. Sent as
   * long as there is a connection; it only makes the report say more.
   */
  z.object({ kind: z.literal('abandoned'), shard: shardAttemptSchema, sent: z.number().int().min(0) }),
  /** Jobs in the agent's queue that the coordinator did not sign: somebody else writes there. */
  z.object({
    kind: z.literal('forged'),
    /** In all, since the agent's start. */
    count: z.int().min(1),
    /** Of the last one. */
    reason: z.string().max(1_000),
  }),
  /** The agent takes no more shards and leaves when its running ones have ended. */
  z.object({ kind: z.literal('draining') }),
]);
export type AgentMessage = z.infer<typeof agentMessageSchema>;
