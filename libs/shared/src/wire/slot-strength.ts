import { z } from 'zod';
import { LIMITS } from '../limits.js';

/** What an agent says of how much its slots can do; both absent: nothing is known (plan/slot-weights.ts). */
export const slotStrengthFields = {
  /** Requests per second that one of its slots can send, as it has measured itself. */
  capacityHz: z.number().min(0).max(LIMITS.maxRate).optional(),
  /** Given by hand: 2 is twice a usual slot. */
  weight: z.number().min(LIMITS.minWeight).max(LIMITS.maxWeight).optional(),
} as const;

/** What was measured before on a machine, in a file of its agents. */
export const capacityFileSchema = z.object({
  format: z.literal('broadside-capacity'),
  /** Requests per second of a slot, by everything that it follows from. */
  entries: z.record(z.string(), z.number().min(0).max(LIMITS.maxRate)),
});
