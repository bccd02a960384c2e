import { z } from 'zod';

/** What a person says who stops everything. */
export const killRequestSchema = z
  .strictObject({
    /** Shown in the reports of the runs that it ends. */
    reason: z
      .string()
      .min(1)
      .max(150)
      .regex(/^[^\r\n\0]*$/, 'must be one line')
      .optional(),
  })
  .default({});
export type KillRequest = z.infer<typeof killRequestSchema>;

/** Whether the kill switch is on: then there is no load, and no run is taken in. */
export const killStateSchema = z.object({
  isOn: z.boolean(),
  reason: z.string().max(200).optional(),
  since: z.string().optional(),
  /** Runs that this request ended. */
  endedRuns: z.int().min(0).optional(),
});
export type KillState = z.infer<typeof killStateSchema>;
