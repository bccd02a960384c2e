import type { Fatal, RunState } from '@broadside/shared';

/**
 * States and legal moves of a run (design section 5). Pure.
 *
 *   queued ──► preparing ──► running ──► closing ──► finished | aborted | failed
 *      │            └───────────────────────▲              ▲
 *      └──────────────── aborted | failed (nothing was sent yet)
 *
 * Whatever ends a run that has shards goes through `closing`, because shards must report what they did.
 */
const MOVES: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['preparing', 'aborted', 'failed'],
  preparing: ['running', 'closing'],
  running: ['closing'],
  closing: ['finished', 'aborted', 'failed'],
  finished: [],
  aborted: [],
  failed: [],
};

export function canMove(from: RunState, to: RunState): boolean {
  return MOVES[from].includes(to);
}

/** @throws Error for a move that is not drawn above: a defect of ours. */
export function assertMove(from: RunState, to: RunState): void {
  if (!canMove(from, to)) throw new Error(`a run cannot go from ${from} to ${to}`);
}

export interface RunEnding {
  /** Why somebody stopped the run, where somebody did. */
  readonly stopReason?: string | undefined;
  /** Why the coordinator ended the run: barrier, refusal, probe, no room to go on. */
  readonly failure?: string | undefined;
  readonly onSocketError: 'continue' | 'stop';
  readonly shardCount: number;
  /** Fatal errors of shards, in the order of the shards. */
  readonly fatals: readonly Fatal[];
}

/** The final state of a run whose shards have all ended, and why, unless it simply finished. */
export function endStateOf(ending: RunEnding): {
  readonly state: 'finished' | 'aborted' | 'failed';
  readonly reason?: string;
} {
  if (ending.failure !== undefined) return { state: 'failed', reason: ending.failure };
  const [fatal] = ending.fatals;
  if (fatal !== undefined && ending.onSocketError === 'stop') {
    return { state: 'failed', reason: fatal.message };
  }
  if (ending.stopReason !== undefined) return { state: 'aborted', reason: ending.stopReason };
  if (fatal !== undefined && ending.fatals.length >= ending.shardCount) {
    return { state: 'failed', reason: fatal.message };
  }
  return { state: 'finished' };
}
