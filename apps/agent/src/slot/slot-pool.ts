import type { TransportWish } from '@broadside/engine/host';
import { LIMITS, type Shard } from '@broadside/shared';
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

/**
 * A fixed number of slots; which are free. Where none is, there is room for as many extra ones, whose threads are made
 * when a shard comes and end when a slot is free again; one of them may be kept warm. The coordinator gives more shards
 * than slots only where a lost agent's load has to go on; one that comes while a slot is still ending its last shard
 * need not wait either.
 */
export class SlotPool {
  /** Shards beyond the slots that there is room for. */
  readonly extraSlots: number;
  readonly #options: SlotPoolOptions;
  readonly #slots: readonly Slot[];
  readonly #extras = new Set<Slot>();
  /** Ends of extra slots that are under way. */
  readonly #closing = new Set<Promise<void>>();
  #keepsSpare = false;
  #isClosed = false;

  constructor(options: SlotPoolOptions) {
    const { slots } = options;
    this.#options = options;
    this.#slots = Array.from({ length: slots }, (_, index) => this.#slot(index));
    this.extraSlots = Math.min(slots * LIMITS.extraPerSlot, LIMITS.maxShardsOfAgent - slots);
  }

  /** Without the extra ones. */
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

  /**
   * From now on one extra slot has a thread that waits, so that the load of a lost agent does not: starting one takes
   * 0.16 s of CPU, a waiting one none, and some 15 MB. Resolves when it is up, or has died.
   */
  async keepSpare(): Promise<void> {
    this.#keepsSpare = true;
    if (!this.#isClosed && this.#extras.size === 0 && this.extraSlots > 0) await this.#addExtra().warmUp();
  }

  /** Runs a shard in a free slot, or in an extra one. @throws Error when there is none. */
  run(shard: Shard, events: SlotEvents, policies: TargetPolicies): SlotRun {
    const slot = this.#slots.find(({ isFree }) => isFree) ?? this.#extraSlot();
    const run = slot.run(shard, events, policies);
    void run.ended.then(() => this.#endExtras());
    return run;
  }

  /** Ends all threads; shards that are still in them leave with a fatal error. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#slots, ...this.#extras].map((slot) => slot.close());
    await Promise.all([...open, ...this.#closing]);
  }

  #slot(index: number): Slot {
    const { threadEntry, transport, logger, stopTimeoutMs } = this.#options;
    return new Slot({ index, threadEntry, transport, logger, stopTimeoutMs });
  }

  /** One that has its thread still, or a new one. */
  #extraSlot(): Slot {
    const idle = [...this.#extras].find(({ isFree }) => isFree);
    if (idle !== undefined) return idle;
    if (this.#isClosed || this.#extras.size >= this.extraSlots) throw new Error('no slot is free');
    return this.#addExtra();
  }

  #addExtra(): Slot {
    const extra = this.#slot(this.#slots.length + this.#extras.size);
    this.#extras.add(extra);
    return extra;
  }

  /** Of no use any more once a slot is free, but for the spare one. Until then the next rest finds them warm. */
  #endExtras(): void {
    if (this.#isClosed || this.freeCount === 0) return;
    const idle = [...this.#extras].filter(({ isFree }) => isFree);
    for (const extra of this.#keepsSpare ? idle.slice(1) : idle) {
      this.#extras.delete(extra);
      const closing = extra.close().finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
  }
}
