/** The end of a run: from everything that is known of it to its final state and report. */
import { LostStoreError } from '../storage/lost-store.js';
import type { RunChange } from './run.repository.js';
import type { RunParts } from './run-parts.js';
import { reportOf } from './run-report.js';
import { endStateOf } from './run-state.js';

/** The final state with the report; a report that cannot be made fails the run. */
export async function judgeRun(run: RunParts): Promise<RunChange> {
  const { head, services, shards, agents, books, orders, reissue, reasons } = run;
  const { stopReason, failure, probeFatal } = reasons;
  const { plan } = head;
  const endedAt = new Date();
  const { startAtUs, referenceBytes } = orders;
  const ending = endStateOf({
    stopReason,
    failure,
    onSocketError: plan.onSocketError,
    shardCount: shards.count,
    fatals: shards.all.flatMap((each) => each.fatal ?? []),
  });
  try {
    const report = await reportOf({
      plan,
      run: {
        id: head.id,
        ...ending,
        createdAt: head.createdAt.toISOString(),
        ...(startAtUs === undefined ? {} : { startedAt: new Date(startAtUs / 1_000).toISOString() }),
        endedAt: endedAt.toISOString(),
      },
      // An attempt that no slot ever began is nobody's concern.
      shards: shards.all.filter((each) => !(each.didNothing && each.shard.attempt > 1)),
      agents: agents.facts(),
      totals: books.totals,
      seconds: books.seconds,
      referenceBytes,
      fatal: probeFatal,
      losses: reissue.rests.losses,
      problems: books.problems,
      warnings: agents.warnings,
      readIntervals: (attempt) => services.intervals.read(attempt),
    });
    return { ...ending, endedAt, report };
  } catch (error) {
    // What the store held of it is gone, and that is told already.
    if (error instanceof LostStoreError) return { state: 'failed', reason: error.sentence, endedAt };
    services.log.error({ err: error, run: head.id }, 'a report could not be made');
    return { state: 'failed', reason: 'the report could not be made; the log has the details', endedAt };
  }
}
