import { latencySchema } from '@broadside/shared';
import { z } from 'zod';

/** What the target of the self-test does instead of a proper reply. */
export const FAULTS = [
  'reset',
  'resetWithin',
  'close',
  'truncate',
  'garbage',
  'status',
  'otherLength',
  'silent',
] as const;
export type Fault = (typeof FAULTS)[number];

const MAX_DELAY_MS = 60_000;

/**
 * What the target does with the requests of one run. Requests are numbered over all connections, from 0, in the
 * order in which they arrive, so that what happens to a run of N requests is known beforehand, whoever sends them.
 */
export const targetScriptSchema = z.strictObject({
  /** Wait before a reply: each as often as its share says, in an order that the seed gives. Shares add up to 1. */
  delays: z.strictObject({
    seed: z.int(),
    shares: z.array(z.tuple([z.number().positive().max(1), z.number().min(0).max(MAX_DELAY_MS)])).min(1),
  }),
  /** Times in which the target does nothing at all, counted from the first request. */
  freezes: z
    .strictObject({
      firstAtMs: z.number().min(0),
      everyMs: z.number().positive(),
      lastsMs: z.number().positive().max(MAX_DELAY_MS),
    })
    .optional(),
  /** What happens to request n: the fault with n ≡ at (mod every), the first that fits. */
  faults: z.array(z.strictObject({ fault: z.enum(FAULTS), every: z.int().min(1), at: z.int().min(0) })),
  /** Replies that a connection carries; the request behind them finds it closed without a word. */
  keepAliveLimit: z.int().min(1).optional(),
});
export type TargetScript = z.infer<typeof targetScriptSchema>;

/** What the target has seen and done since its script began, by its own count and clock. */
export const targetRecordSchema = z.object({
  connections: z.int(),
  requests: z.int(),
  /** Whole replies with status 200. */
  replies: z.int(),
  faults: z.record(z.enum(FAULTS), z.int()),
  /** Of the faults of the kind `close`, those that met the first request of a connection. */
  closedNew: z.int(),
  /** From the first request to the last one. */
  spanUs: z.number(),
  /** From a request to its reply, by the target's clock. */
  delays: latencySchema,
  /** When it was frozen, counted from the first request. */
  freezes: z.array(z.object({ beginUs: z.number(), endUs: z.number() })),
  /** Time in which its thread was ready to run and had no CPU; absent where the platform does not tell. */
  runDelayUs: z.number().optional(),
});
export type TargetRecord = z.infer<typeof targetRecordSchema>;

/** Parent to target. */
export const targetOrderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begin'), script: targetScriptSchema }),
  z.object({ kind: z.literal('tell') }),
]);

/** Target to parent. */
export const targetAnswerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), port: z.int() }),
  z.object({ kind: z.literal('begun') }),
  z.object({ kind: z.literal('record'), record: targetRecordSchema }),
]);
export type TargetAnswer = z.infer<typeof targetAnswerSchema>;

/** The fault that meets request n; undefined: it gets a proper reply. */
export function faultOf(script: Pick<TargetScript, 'faults'>, request: number): Fault | undefined {
  return script.faults.find(({ every, at }) => request % every === at)?.fault;
}

/** How often each fault meets the first so many requests. */
export function faultCounts(script: Pick<TargetScript, 'faults'>, requests: number): Record<Fault, number> {
  const counts = noFaults();
  for (let n = 0; n < requests; n++) {
    const fault = faultOf(script, n);
    if (fault !== undefined) counts[fault]++;
  }
  return counts;
}

export function noFaults(): Record<Fault, number> {
  return {
    reset: 0,
    resetWithin: 0,
    close: 0,
    truncate: 0,
    garbage: 0,
    status: 0,
    otherLength: 0,
    silent: 0,
  };
}
