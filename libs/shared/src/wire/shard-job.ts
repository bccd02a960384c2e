import { z } from 'zod';
import { fatalSchema } from '../metrics/fatal.js';
import { shardAttemptSchema } from '../plan/shard.schema.js';

/** Queue of the parent jobs: one per run; it becomes active when all shard jobs have ended. */
export const RUN_QUEUE = 'broadside-runs';

/** Each agent has a queue of its own, so that the planner decides which agent gets which shard. */
export function shardQueueOf(agentId: string): string {
  return `broadside-shards-${agentId}`;
}

/** Result of a shard job: its own totals, for comparison with the sum of its intervals. */
export const shardResultSchema = shardAttemptSchema.extend({
  /** Totals frame (wire/frame.ts) in base64. */
  totals: z.base64(),
  /** Addresses the name was resolved to, and the one that was used. */
  addresses: z.array(z.string().max(64)).max(64),
  /** Start instant as this agent reached it, minus the one asked for, in µs of the coordinator's clock. */
  startSkewUs: z.number(),
  /** `Server` header of the first reply. */
  server: z.string().max(200).optional(),
  transport: z.string().max(16),
  fatal: fatalSchema.optional(),
});
export type ShardResult = z.infer<typeof shardResultSchema>;
