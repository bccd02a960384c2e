/** How long a run whose load has ended waits for what is still on its way. Pure. */
import { LIMITS } from '@broadside/shared';

export interface Closing {
  readonly beganAtMs: number;
  /** When an interval was taken last. */
  readonly heardAtMs: number;
}

/**
 * Ms until the run closes with what there is, unless something comes meanwhile; 0 or less: now. A coordinator of
 * thousands of agents may be behind them, and what they still send must not be cut off; but nobody may keep a run open
 * for ever.
 */
export function closesInMs({ beganAtMs, heardAtMs }: Closing, nowMs: number): number {
  const silentAtMs = Math.max(heardAtMs, beganAtMs) + LIMITS.closeTimeoutMs;
  return Math.min(silentAtMs, beganAtMs + LIMITS.maxCloseMs) - nowMs;
}
