/** What the end of a shard means. Pure. */
import {
  counterOf,
  decodeTotals,
  type FailureClass,
  type Fatal,
  FrameError,
  formatDurationMs,
  type Interval,
  LIMITS,
  type Loss,
  loadDurationMs,
  type Plan,
  type Shard,
} from '@broadside/shared';
import type { ShardEnding } from '../shard/shard-queue.js';
import type { ShardProgress } from './shard-progress.js';

/**
 * Notes how the queue says that the shard ended.
 * @param isStopped whether the shards were told to stop: one that was never begun then did nothing wrong.
 */
export function takeEnding(
  progress: ShardProgress,
  ending: ShardEnding | undefined,
  isStopped: boolean,
): void {
  if (ending?.kind === 'result') {
    try {
      const totalsFrame = Buffer.from(ending.result.totals, 'base64');
      progress.totals = decodeTotals(totalsFrame);
      progress.totalsFrame = totalsFrame;
      progress.result = ending.result;
      progress.fatal ??= ending.result.fatal;
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      progress.failure = `its totals cannot be read (${error.message})`;
    }
    return;
  }
  if (isStopped && !progress.isReady) progress.didNothing = true;
  else progress.failure = ending?.reason ?? 'it ended without a result';
}

/** Whether a last interval shows that a fatal error ended the shard before its budget was used up. */
export function hasFatalEnd(
  plan: Pick<Plan, 'requests' | 'durationMs' | 'warmupMs'>,
  last: Pick<Interval, 'counters' | 'number' | 'span'>,
): boolean {
  if (counterOf(last.counters, 'notSentFatal') > 0) return true;
  // Without a number of requests nothing is left over; such a shard is known by the time it should have lasted.
  const endMs = (last.number + last.span) * LIMITS.intervalMs;
  const durationMs = loadDurationMs(plan);
  return plan.requests === undefined && durationMs !== undefined && endMs < durationMs;
}

/** Outcomes of a request whose connection did what it should: the reply is wrong, and the load goes on. */
const WRONG_REPLIES: ReadonlySet<FailureClass | undefined> = new Set([
  'closedWithoutReplyNew',
  'closedWithoutReplyReused',
  'truncated',
  'malformed',
  'tooLarge',
  'lengthDiffers',
  'status',
]);

/** Whether a probe failed with what ends a load that is to stop at a socket error, as later requests would. */
export function isSocketError(fatal: Fatal): boolean {
  return !WRONG_REPLIES.has(fatal.failureClass);
}

/** Whether a last interval shows that the shard was stopped, which only its own agent can have done. */
export function endedEarly(last: Pick<Interval, 'counters'>): boolean {
  return counterOf(last.counters, 'notSentStopped') > 0;
}

/** What a stopped shard booked as not sent: what its budget still had. */
export function returnedBy(last: Pick<Interval, 'counters'>): number {
  return counterOf(last.counters, 'notSentStopped');
}

/**
 * What is wrong with an attempt of a run that finished, where it said its last before its time was over, although it
 * had no error, and nobody took note: its agent stopped it while no coordinator was there to hear why.
 */
export function earlyEnd(progress: ShardProgress, losses: readonly Loss[]): string | undefined {
  const { shard, last, fatal, coveredSlices } = progress;
  const { shardIndex, attempt } = shard;
  if (last === undefined || fatal !== undefined || !isUnfinished(shard, last)) return undefined;
  if (losses.some((loss) => loss.shardIndex === shardIndex && loss.attempt === attempt)) return undefined;
  const coveredMs = coveredSlices * LIMITS.intervalMs;
  const lastsMs = loadDurationMs(shard);
  const of = lastsMs === undefined ? '' : ` of its ${formatDurationMs(lastsMs)}`;
  return `its load ended after ${formatDurationMs(coveredMs)}${of}, and nobody had ended it`;
}

/** Whether a last interval comes before the shard had done what it should: all its requests, or all its time. */
export function isUnfinished(shard: Shard, last: Pick<Interval, 'counters' | 'number' | 'span'>): boolean {
  if (counterOf(last.counters, 'notSentFatal') > 0) return false;
  if (endedEarly(last)) return true;
  const durationMs = loadDurationMs(shard);
  const endMs = (last.number + last.span) * LIMITS.intervalMs;
  return shard.requests === undefined && durationMs !== undefined && endMs < durationMs;
}
