/** What nobody sent of a schedule because an agent went: the entries of a run's losses with these numbers. Pure. */
import { counterOf, LIMITS, type Loss, missedRequests, type TimedShard } from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';

/** @param untilMs run time at which the load ended before its time; infinite where it did not. */
export function lossesWithMissed(
  losses: readonly Loss[],
  shards: readonly ShardProgress[],
  untilMs: number,
): Loss[] {
  const attemptOf = (shardIndex: number, attempt: number | undefined): ShardProgress | undefined =>
    shards.find(({ shard }) => shard.shardIndex === shardIndex && shard.attempt === attempt);
  const mostDraws = LIMITS.maxCountedArrivals / Math.max(losses.length, 1);
  return losses.map((loss) => {
    const from = attemptOf(loss.shardIndex, loss.attempt);
    const taker = loss.rest === 'taken' ? attemptOf(loss.shardIndex, loss.takenBy?.attempt) : undefined;
    if (from === undefined) return loss;
    const missed = missedRequests({
      lost: timed(from),
      planned: counterOf(from.counted, 'planned'),
      rest: taker === undefined ? undefined : timed(taker),
      untilMs,
      mostDraws,
    });
    return missed === undefined ? loss : { ...loss, missedRequests: missed };
  });
}

function timed({ shard, startSlice = 0, fromMs }: ShardProgress): TimedShard {
  return { shard, beginsMs: startSlice * LIMITS.intervalMs, fromMs };
}
