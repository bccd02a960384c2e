import { z } from 'zod';
import { fatalSchema } from '../metrics/fatal.js';
import { agentIdSchema, shardAttemptSchema } from '../plan/shard.schema.js';

/** Facts about a load machine, for the report. */
export const machineSchema = z.object({
  hostname: z.string().max(255),
  cpus: z.int().min(1).max(100_000),
  cpuModel: z.string().max(200),
  memoryBytes: z.number().min(0),
  os: z.string().max(200),
  arch: z.string().max(32),
  node: z.string().max(32),
});
export type Machine = z.infer<typeof machineSchema>;

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
    slots: z.int().min(1).max(1_024),
    machine: machineSchema,
    /** Attempts that are still alive on the agent when it comes back after a broken socket. */
    attempts: z.array(shardAttemptSchema).max(1_024),
  }),
  z.object({ kind: z.literal('heartbeat'), freeSlots: z.int().min(0).max(1_024) }),
  /** A round trip to measure the clock offset; times are µs of the sender's clock. */
  z.object({ kind: z.literal('clock-probe'), sentUs: z.number() }),
  /** Estimate of coordinator clock minus agent clock, with half the smallest round trip as its uncertainty. */
  z.object({ kind: z.literal('clock-offset'), offsetUs: z.number(), uncertaintyUs: z.number().min(0) }),
  /** A slot holds the shard and can start. */
  z.object({ kind: z.literal('ready'), shard: shardAttemptSchema }),
  /** The shard cannot start: name not found, address not allowed, job not valid. */
  z.object({ kind: z.literal('refused'), shard: shardAttemptSchema, fatal: fatalSchema }),
  z.object({ kind: z.literal('probed'), shard: shardAttemptSchema, result: probeResultSchema }),
  /** The agent takes no more shards and leaves when its running ones have ended. */
  z.object({ kind: z.literal('draining') }),
]);
export type AgentMessage = z.infer<typeof agentMessageSchema>;
