import { isFinalState, LIMITS } from '@broadside/shared';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { CoordinatorEvents } from '../events.js';
import type { Store } from '../storage/store.js';

export interface KeptRuns {
  /** Ended runs of which everything but the frames is kept. */
  readonly reports: number;
  /** Ended runs of which the frames are kept too; they are nearly all of a run's size. */
  readonly frames: number;
}

/** Frames of the newest, and everything else of `keepRuns`, as it was set. */
export function keptRuns(keepRuns: number): KeptRuns {
  return { reports: keepRuns, frames: Math.min(keepRuns, LIMITS.maxRunsWithFrames) };
}

/**
 * Keeps a store from growing for ever: when a run has ended, the oldest ones are forgotten, and before that their
 * frames. A report is made of frames and does not need them afterwards.
 */
export class OldRuns {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #kept: KeptRuns;
  #forgetting: Promise<void> = Promise.resolve();

  constructor(store: Store, log: Logger, kept: KeptRuns) {
    this.#store = store;
    this.#log = log;
    this.#kept = kept;
  }

  /** Forgets after each end of a run. */
  follow(events: Pick<CoordinatorEvents, 'on'>): void {
    events.on('live-message', (message) => {
      if (message.kind === 'state' && isFinalState(message.state)) void this.forget();
    });
  }

  /** One after the other; a failure is in the log, and the next run tries again. */
  forget(): Promise<void> {
    this.#forgetting = this.#forgetting
      .then(() => this.#forget())
      .catch((error: unknown) => this.#log.warn({ err: error }, 'old runs could not be forgotten'));
    return this.#forgetting;
  }

  async #forget(): Promise<void> {
    const { db, kind } = this.#store;
    const ended = (kept: number) => sql`
      select id from runs where state in ('finished', 'aborted', 'failed')
      order by created_at desc, id desc offset ${kept}`;
    // Only runs that have frames left: the list of old ones gets long.
    const frames = await sql`
      delete from intervals where run_id in (
        select id from (${ended(this.#kept.frames)}) as old
        where exists (select from intervals where run_id = old.id))`.execute(db);
    const runs = await sql`delete from runs where id in (${ended(this.#kept.reports)})`.execute(db);
    const [frameCount, runCount] = [frames.numAffectedRows ?? 0n, runs.numAffectedRows ?? 0n];
    if (runCount > 0n) this.#log.info(`forgot ${runCount} old runs`);
    // A server does this by itself; the embedded engine would never use the room again.
    if (kind === 'pglite' && frameCount + runCount > 0n) await sql`vacuum`.execute(db);
  }
}
