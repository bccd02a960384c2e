import { sql } from 'kysely';
import { answersInTime } from '../queue/answers-in-time.js';
import type { RunService } from '../run/run.service.js';
import type { ShardQueue } from '../shard/shard-queue.js';
import type { Store } from '../storage/store.js';

export interface Readiness {
  readonly store: boolean;
  readonly queue: boolean;
  readonly accepting: boolean;
}

/** Whether a run that was posted now would be carried out. */
export class Health {
  readonly #store: Store;
  readonly #queue: ShardQueue;
  readonly #runs: RunService;

  constructor(store: Store, queue: ShardQueue, runs: RunService) {
    this.#store = store;
    this.#queue = queue;
    this.#runs = runs;
  }

  async readiness(): Promise<Readiness> {
    const [store, queue] = await Promise.all([
      answersInTime(this.#isStoreReachable()),
      answersInTime(this.#queue.isReachable()),
    ]);
    return { store, queue, accepting: this.#runs.isAccepting };
  }

  /** What is known of a store that is not there, for its owner. */
  get storeTrouble(): string | undefined {
    if (this.#store.whyGone() === undefined) return undefined;
    return this.#store.kind === 'pglite'
      ? 'its data directory was removed or moved away'
      : 'another coordinator uses its database';
  }

  async #isStoreReachable(): Promise<boolean> {
    if (this.#store.whyGone() !== undefined) return false;
    await sql`select 1`.execute(this.#store.db);
    return true;
  }
}
