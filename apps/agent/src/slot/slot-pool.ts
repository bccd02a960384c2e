import type { TransportWish } from '@broadside/engine/host';
import type { Shard } from '@broadside/shared';
import type { Logger } from 'pino';
import { Slot, type SlotEvents, type SlotRun } from './slot.js';
import type { TargetPolicies } from './thread-message.js';

export interface SlotPoolOptions {
  readonly slots: number;
  /** The script of the engine threads (engine-thread.js). */
  readonly threadEntry: URL;
  readonly transport: TransportWish;
  readonly logger: Logger;
  /** How long a thread may take to end its shard after a stop; then it is terminated. */
  readonly stopTimeoutMs: number;
}

/** A fixed number of slots; which are free. */
export class SlotPool {
  readonly #slots: readonly Slot[];
  #isClosed = false;

  constructor(options: SlotPoolOptions) {
    const { threadEntry, transport, logger, stopTimeoutMs } = options;
    this.#slots = Array.from(
      { length: options.slots },
      (_, index) => new Slot({ index, threadEntry, transport, logger, stopTimeoutMs }),
    );
  }

  get freeCount(): number {
    return this.#slots.filter((slot) => slot.isFree).length;
  }

  /** Starts the threads one after the other, so that they do not crowd out what else is starting. */
  async warmUp(): Promise<void> {
    for (const slot of this.#slots) {
      if (this.#isClosed) return;
      if (slot.isFree) await slot.warmUp();
    }
  }

  /** Runs a shard in a free slot. @throws Error when there is none. */
  run(shard: Shard, events: SlotEvents, policies: TargetPolicies): SlotRun {
    const slot = this.#slots.find((candidate) => candidate.isFree);
    if (slot === undefined) throw new Error('no slot is free');
    return slot.run(shard, events, policies);
  }

  /** Ends all threads; shards that are still in them leave with a fatal error. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }
}
