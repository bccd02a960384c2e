import { decodeInterval, type Interval, type ShardAttempt } from '@broadside/shared';
import { sql } from 'kysely';
import type { Store } from '../storage/store.js';
import type { StorePatience } from '../storage/store-patience.js';

/** One frame as it is stored. */
export interface StoredFrame extends ShardAttempt {
  readonly number: number;
  readonly frame: Uint8Array;
}

/** Interval frames in the store; waits for a store that is away. */
export class IntervalRepository {
  readonly #store: Store;
  readonly #patience: StorePatience;

  constructor(store: Store, patience: StorePatience) {
    this.#store = store;
    this.#patience = patience;
  }

  /**
   * Stores frames in one statement; one that is there already stays as it is. The frames travel as one block of
   * bytes that the store cuts up again: a parameter for each value took several times as long on both sides.
   */
  async append(frames: readonly StoredFrame[]): Promise<void> {
    const offsets: number[] = [];
    let end = 0;
    for (const { frame } of frames) {
      // SQL counts from 1.
      offsets.push(end + 1);
      end += frame.length;
    }
    const block = Buffer.concat(
      frames.map(({ frame }) => frame),
      end,
    );
    const column = (of: (frame: StoredFrame) => number): number[] => frames.map(of);
    const insert = sql`
      insert into intervals (run_id, shard_index, attempt, number, frame)
      select run_id, shard_index, attempt, number, substring(${block}::bytea from first for size)
      from unnest(
        ${frames.map(({ runId }) => runId)}::text[],
        ${column(({ shardIndex }) => shardIndex)}::integer[],
        ${column(({ attempt }) => attempt)}::integer[],
        ${column(({ number }) => number)}::integer[],
        ${offsets}::integer[],
        ${column(({ frame }) => frame.length)}::integer[]
      ) as given (run_id, shard_index, attempt, number, first, size)
      on conflict do nothing`;
    await this.#patience.ask(`${frames.length} intervals`, () => insert.execute(this.#store.db));
  }

  /** All stored intervals of one attempt, in order. */
  async load(attempt: ShardAttempt): Promise<Interval[]> {
    const select = this.#store.db
      .selectFrom('intervals')
      .select('frame')
      .where('run_id', '=', attempt.runId)
      .where('shard_index', '=', attempt.shardIndex)
      .where('attempt', '=', attempt.attempt)
      .orderBy('number');
    const rows = await this.#patience.ask('a question for intervals', () => select.execute());
    return rows.map((row) => decodeInterval(row.frame));
  }
}
