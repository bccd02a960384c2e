import { z } from 'zod';
import { runIdSchema } from '../plan/shard.schema.js';

/** States of a run, in their usual order; the last three are final. */
export const RUN_STATES = [
  'queued',
  'preparing',
  'running',
  'closing',
  'finished',
  'aborted',
  'failed',
] as const;
export const runStateSchema = z.enum(RUN_STATES);
export type RunState = z.infer<typeof runStateSchema>;

export function isFinalState(state: RunState): boolean {
  return state === 'finished' || state === 'aborted' || state === 'failed';
}

/** One second of a run, merged over all shards. Latencies in µs; NaN does not travel, absent is absent. */
export const secondSchema = z.object({
  /** 0-based second after the start instant. */
  second: z.int().min(0),
  planned: z.number(),
  sent: z.number(),
  completed: z.number(),
  failed: z.number(),
  inFlight: z.number(),
  openConnections: z.number(),
  /** Most connections that were open at once, added up over the shards; absent in reports of before. */
  openConnectionsMax: z.number().optional(),
  bytesReceived: z.number(),
  /** Of the complete replies that ended in this second. */
  p50Us: z.number().optional(),
  p99Us: z.number().optional(),
  maxUs: z.number().optional(),
  /** From the planned time; of paced loads only. */
  correctedP50Us: z.number().optional(),
  correctedP99Us: z.number().optional(),
  /** Present for seconds of the warm-up, which count in no total. */
  isWarmup: z.literal(true).optional(),
  /** Largest busy share of one engine thread, 0 … 1. */
  busyShareMax: z.number(),
  /**
   * Of the engine thread that had most to do: share of the second in which it was busy, or wanted a CPU and had
   * none. At 1 a thread does all it can.
   */
  demandShareMax: z.number().optional(),
  /** Largest share in which one engine thread was ready to run and had no CPU. */
  runDelayShareMax: z.number().optional(),
  /** Largest share of a machine's CPU time that its hypervisor gave to others. */
  stealShareMax: z.number().optional(),
  /** Longest sum of garbage collections in one engine thread. */
  gcPauseMaxUs: z.number().optional(),
  /** Largest delay between planned and real send. */
  sendLagMaxUs: z.number().optional(),
});
export type Second = z.infer<typeof secondSchema>;

/** Coordinator to watchers of one run, as JSON text. */
export const liveMessageSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('state'),
    runId: runIdSchema,
    state: runStateSchema,
    /** Why a queued run waits, or why a run ended early. */
    reason: z.string().max(1_000).optional(),
    /** Of a queued run: 1 is the next one of those that want the same agents. */
    position: z.int().min(1).optional(),
    /** Known from `preparing` on. */
    shards: z.int().min(0).optional(),
    agents: z.int().min(0).optional(),
    /** What the agents found doubtful before the load began; from `running` on. */
    warnings: z.array(z.string().max(800)).max(32).optional(),
    /** Start instant in µs since the epoch of the coordinator's clock; from `running` on. */
    startAtUs: z.number().optional(),
  }),
  z.object({
    kind: z.literal('second'),
    runId: runIdSchema,
    second: secondSchema,
    /** Cumulative, this second included. */
    total: z.object({ planned: z.number(), completed: z.number(), failed: z.number() }),
    /** Said while the generator is the limit: the target may be faster than this second shows. */
    generatorWarning: z.string().max(300).optional(),
  }),
]);
export type LiveMessage = z.infer<typeof liveMessageSchema>;
