/** Whether a run's books prove themselves, so that nobody needs to look into the store. Pure. */
import { COUNTER_NAMES, counterOf, HISTOGRAM_NAMES, RunTotals, sameHistogram } from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';

/**
 * True when every attempt has delivered everything and it is stored, the counters of what came from each are those of
 * its own totals, and what was merged is bin for bin the sum of all these totals. The totals have another way than
 * the intervals, so a frame that was lost, doubled, changed or merged wrongly shows.
 */
export function booksAreProven(shards: readonly ShardProgress[], merged: RunTotals): boolean {
  const own = new RunTotals();
  for (const progress of shards) {
    if (progress.didNothing) continue;
    const { totals } = progress;
    if (totals === undefined || !isWhole(progress)) return false;
    own.add(totals);
  }
  return isSame(own, merged);
}

function isWhole({ totals, isFenced, failure, stored, counted, coveredSlices }: ShardProgress): boolean {
  if (totals === undefined || isFenced || failure !== undefined) return false;
  if (totals.intervals === 0) return coveredSlices === 0;
  if (!stored.isComplete || stored.next < totals.intervals) return false;
  return COUNTER_NAMES.every((name) => counterOf(totals.counters, name) === counterOf(counted, name));
}

function isSame(own: RunTotals, merged: RunTotals): boolean {
  const codes = new Set([...own.statusCounts.keys(), ...merged.statusCounts.keys()]);
  return (
    COUNTER_NAMES.every((name) => own.counter(name) === merged.counter(name)) &&
    [...codes].every((code) => own.statusCounts.get(code) === merged.statusCounts.get(code)) &&
    HISTOGRAM_NAMES.every((name) =>
      sameHistogram(own.histogram(name).toSparse(), merged.histogram(name).toSparse()),
    )
  );
}
