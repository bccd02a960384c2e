import type { StoredShard } from './run.repository.js';
import type { RunNotes } from './run-notes.js';
import { ShardProgress } from './shard-progress.js';

/**
 * The attempts at the shards of a run as an earlier coordinator left them. Shards and notes are not stored in one
 * statement, so what only one of them says may be half of what had happened. Pure.
 */
export function restoredShards(stored: readonly StoredShard[], notes: RunNotes): ShardProgress[] {
  return stored.map((row) => {
    const { shardIndex, attempt } = row.shard;
    const losses = notes.losses.filter((loss) => loss.shardIndex === shardIndex);
    const progress = new ShardProgress(row.shard, row.agentId, row.agentName, row.group);
    progress.startSlice = row.startSlice;
    progress.didNothing = row.state === 'unused';
    // A loss that was fenced and not booked any more is noticed again: its agent does not have it, or is away.
    const isReplaced = stored.some(
      ({ shard, startSlice }) =>
        shard.shardIndex === shardIndex && shard.attempt > attempt && startSlice === 0,
    );
    const isBooked = isReplaced || losses.some((loss) => loss.attempt === attempt);
    progress.isFenced = progress.didNothing || (row.state === 'fenced' && isBooked);
    progress.fatal = row.fatal;
    const takenBy = losses.find(
      (loss) => loss.takenBy?.attempt === attempt && loss.rest === 'taken',
    )?.takenBy;
    const tookOver = takenBy !== undefined;
    progress.fromMs = takenBy?.fromMs;
    // One that replaced another before the start begins with the run, as the first ones do.
    const isOfStart = attempt === 1 || row.startSlice === 0;
    progress.hasBegun = notes.startAtUs !== undefined && (isOfStart || tookOver);
    progress.isReady = progress.hasBegun;
    // One that was to take over a loss that is noticed again: that will be given to another one.
    const isAwaited = losses.some((loss) => loss.rest === 'waiting' && loss.attempt < attempt);
    if (!isOfStart && !tookOver && !isAwaited) {
      progress.didNothing = true;
      progress.isFenced = true;
    }
    return progress;
  });
}
