/** Takes a run up where an earlier coordinator left it. */
import type { RunState } from '@broadside/shared';
import type { ShardEndings } from '../shard/shard-queue.js';
import type { RunNotes } from './run-notes.js';
import type { RunParts } from './run-parts.js';

/**
 * Fills the parts from the run's notes, its attempts as they were stored, and their intervals.
 * @param onEnded is told of the groups whose ends only the earlier coordinator has heard of.
 */
export async function restoreParts(
  parts: RunParts,
  state: RunState,
  notes: RunNotes,
  onEnded: (group: number, endings: ShardEndings) => void,
): Promise<void> {
  const { head, services, journal, agents, reasons, books, orders, barrier, shards, reissue, groups } = parts;
  journal.restore(state);
  agents.restore(notes.agents, notes.warnings);
  reasons.stopReason = notes.stopReason;
  reasons.failure = notes.failure;
  reasons.probeFatal = notes.probeFatal;
  for (const problem of notes.problems) books.note(problem);
  orders.restore(notes);
  if (notes.startAtUs !== undefined) barrier.openNow();
  for (const progress of shards.all) {
    reissue.rests.noteAttempt(progress);
    if (progress.shard.attempt > 1 && progress.hasBegun) books.open(progress);
    if (!progress.didNothing) {
      for await (const interval of services.intervals.read(progress.attempt))
        books.restore(progress, interval);
    }
    if (progress.isFenced) books.end(progress);
  }
  reissue.restore(notes.losses);
  for (const group of new Set(shards.all.map((progress) => progress.group))) {
    const open = shards.inGroup(group).filter((progress) => !progress.hasEnded);
    // Stored, and not handed over any more: that is done now.
    const isNew = open.length > 0 && !(await services.queue.isKnown({ runId: head.id, group }));
    if (isNew) await groups.enqueue(open);
    else groups.reopen(group, shards.inGroup(group));
    const endings = await services.queue.endingsTold({ runId: head.id, group });
    if (endings !== undefined) onEnded(group, endings);
    // The earlier one may not have come to it.
    for (const each of shards.inGroup(group)) if (each.isFenced) void groups.release(each);
  }
  books.passOverClosed();
}
