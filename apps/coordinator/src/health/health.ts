import { sql } from 'kysely';
import type { RunService } from '../run/run.service.js';
import type { ShardQueue } from '../shard/shard-queue.js';
import type { Store } from '../storage/store.js';

/** A store or queue that takes longer does not count as reachable. */
const CHECK_TIMEOUT_MS = 2_000;

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
      withinTime(this.#isStoreReachable()),
      withinTime(this.#queue.isReachable()),
    ]);
    return { store, queue, accepting: this.#runs.isAccepting };
  }

  async #isStoreReachable(): Promise<boolean> {
    await sql`select 1`.execute(this.#store.db);
    return true;
  }
}

/** False as well when the check fails: why it does is in the log of whoever owns the connection. */
async function withinTime(check: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  const answer = check.catch(() => false);
  const isReachable = await Promise.race([answer, timeout]);
  clearTimeout(timer);
  return isReachable;
}
