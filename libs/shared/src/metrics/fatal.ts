import { z } from 'zod';
import { FAILURE_CLASSES } from './failure-class.js';

/** Why a shard ended before its budget was used up. */
export const fatalSchema = z.object({
  /** The failure that ended it; absent when it is not a request's failure (name not found, engine crashed). */
  failureClass: z.enum(FAILURE_CLASSES).optional(),
  /** System error name such as `ECONNREFUSED`, or ours: `ENGINE`, `AGENT_LOST`. */
  code: z.string().max(64),
  /** Positive errno where the system gave one. */
  errno: z.int().min(0).optional(),
  message: z.string().max(1_000),
});
export type Fatal = z.infer<typeof fatalSchema>;
