import { agentFactsSchema, fatalSchema, lossSchema } from '@broadside/shared';
import { z } from 'zod';

/**
 * What is stored of an unfinished run beside its shards and intervals, so that a restarted coordinator can go on
 * with it. The coordinator writes and reads it; it is checked all the same, as everything in a store.
 */
export const runNotesSchema = z.object({
  /** µs of the coordinator's clock, whole ms; absent while no start instant is named. */
  startAtUs: z.number().optional(),
  /** Why the shards were told to stop; absent while they were not. */
  order: z.string().optional(),
  /** When they were to stop, in µs of the coordinator's clock; absent: at once. */
  stopAtUs: z.number().optional(),
  /** Why a person or a program stopped the run, and why it failed. */
  stopReason: z.string().optional(),
  failure: z.string().optional(),
  probeFatal: fatalSchema.optional(),
  /** Body length of the reference reply. */
  referenceBytes: z.number().optional(),
  problems: z.array(z.string()),
  warnings: z.array(z.string()),
  agents: z.array(agentFactsSchema),
  losses: z.array(lossSchema),
});
export type RunNotes = Readonly<z.infer<typeof runNotesSchema>>;
