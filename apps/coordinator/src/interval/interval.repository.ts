import { decodeInterval, type Interval, type ShardAttempt } from '@broadside/shared';
import type { Store } from '../storage/store.js';

/** One frame as it is stored. */
export interface StoredFrame extends ShardAttempt {
  readonly number: number;
  readonly frame: Uint8Array;
}

/** Interval frames in the store. */
export class IntervalRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Stores frames in one statement; one that is there already stays as it is. */
  async append(frames: readonly StoredFrame[]): Promise<void> {
    await this.#store.db
      .insertInto('intervals')
      .values(
        frames.map((row) => ({
          run_id: row.runId,
          shard_index: row.shardIndex,
          attempt: row.attempt,
          number: row.number,
          frame: row.frame,
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** All stored intervals of one attempt, in order. */
  async load(attempt: ShardAttempt): Promise<Interval[]> {
    const rows = await this.#store.db
      .selectFrom('intervals')
      .select('frame')
      .where('run_id', '=', attempt.runId)
      .where('shard_index', '=', attempt.shardIndex)
      .where('attempt', '=', attempt.attempt)
      .orderBy('number')
      .execute();
    return rows.map((row) => decodeInterval(row.frame));
  }
}
