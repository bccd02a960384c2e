import { formatCounted, type Interval, IntervalDecoder, type ShardAttempt } from '@broadside/shared';
import { sql } from 'kysely';
import { byteBlock } from '../storage/byte-block.js';
import type { Store } from '../storage/store.js';
import type { StorePatience } from '../storage/store-patience.js';

/** One frame as it is stored. */
export interface StoredFrame extends ShardAttempt {
  readonly number: number;
  readonly frame: Uint8Array;
}

/** Of frames, after which the log of an embedded store is cut: it takes the store some tenths of a second. */
const CHECKPOINT_BYTES = 256 * 1_024 * 1_024;
/** Read at once. */
const PAGE_FRAMES = 100;

/** Interval frames in the store; waits for a store that is away. */
export class IntervalRepository {
  readonly #store: Store;
  readonly #patience: StorePatience;
  #sinceCheckpointBytes = 0;

  constructor(store: Store, patience: StorePatience) {
    this.#store = store;
    this.#patience = patience;
  }

  /** Stores frames in one statement; one that is there already stays as it is. */
  async append(frames: readonly StoredFrame[]): Promise<void> {
    const { block, firsts, sizes } = byteBlock(frames.map(({ frame }) => frame));
    const column = (of: (frame: StoredFrame) => number): number[] => frames.map(of);
    const insert = sql`
      insert into intervals (run_id, shard_index, attempt, number, frame)
      select run_id, shard_index, attempt, number, substring(${block}::bytea from first for size)
      from unnest(
        ${frames.map(({ runId }) => runId)}::text[],
        ${column(({ shardIndex }) => shardIndex)}::integer[],
        ${column(({ attempt }) => attempt)}::integer[],
        ${column(({ number }) => number)}::integer[],
        ${firsts}::integer[],
        ${sizes}::integer[]
      ) as given (run_id, shard_index, attempt, number, first, size)
      on conflict do nothing`;
    await this.#patience.ask(formatCounted(frames.length, 'interval'), () => insert.execute(this.#store.db));
    await this.#keepLogSmall(block.length);
  }

  /** A server has a process for this. The embedded engine has none, and its log would grow with every frame. */
  async #keepLogSmall(addedBytes: number): Promise<void> {
    if (this.#store.kind !== 'pglite') return;
    this.#sinceCheckpointBytes += addedBytes;
    if (this.#sinceCheckpointBytes < CHECKPOINT_BYTES) return;
    this.#sinceCheckpointBytes = 0;
    await sql`checkpoint`.execute(this.#store.db);
  }

  /**
   * All stored intervals of one attempt, in order, a page at a time: a run may be longer than memory. Each lives
   * until the next one is asked for (`IntervalDecoder`).
   */
  async *read(attempt: ShardAttempt): AsyncGenerator<Interval, void> {
    const decoder = new IntervalDecoder();
    for (let after = -1; ; ) {
      const select = this.#store.db
        .selectFrom('intervals')
        .select(['number', 'frame'])
        .where('run_id', '=', attempt.runId)
        .where('shard_index', '=', attempt.shardIndex)
        .where('attempt', '=', attempt.attempt)
        .where('number', '>', after)
        .orderBy('number')
        .limit(PAGE_FRAMES);
      const rows = await this.#patience.ask('a question for intervals', () => select.execute());
      for (const { frame } of rows) yield decoder.decode(frame);
      after = rows.at(-1)?.number ?? after;
      if (rows.length < PAGE_FRAMES) return;
    }
  }
}
