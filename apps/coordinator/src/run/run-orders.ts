import { type CoordinatorMessage, LIMITS } from '@broadside/shared';
import type { StartBarrier } from '../shard/start-barrier.js';
import type { RunNotes } from './run-notes.js';
import type { ShardProgress } from './shard-progress.js';

/** As long as the message allows. */
const MAX_REASON_LENGTH = 200;

/**
 * What the shards of a run are to do now. An order is a function of what was decided so far, so it can be said
 * again to an agent that was away; agents take the same order twice as one. Pure.
 */
export class RunOrders {
  readonly #barrier: StartBarrier;
  #stopReason: string | undefined;
  #stopAtUs: number | undefined;
  #startAtUs: number | undefined;
  #referenceBytes: number | undefined;

  constructor(barrier: StartBarrier) {
    this.#barrier = barrier;
  }

  get isStopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Start instant in µs of the coordinator's clock, once it is named. */
  get startAtUs(): number | undefined {
    return this.#startAtUs;
  }

  /** Body length of the reference reply, where the plan compares lengths and the probe succeeded. */
  get referenceBytes(): number | undefined {
    return this.#referenceBytes;
  }

  setReference(bytes: number): void {
    this.#referenceBytes = bytes;
  }

  start(startAtUs: number): void {
    this.#startAtUs = startAtUs;
  }

  /** What a restarted coordinator needs to give the same orders. */
  get notes(): Pick<RunNotes, 'order' | 'stopAtUs' | 'startAtUs' | 'referenceBytes'> {
    return {
      ...(this.#stopReason === undefined ? {} : { order: this.#stopReason }),
      ...(this.#stopAtUs === undefined ? {} : { stopAtUs: this.#stopAtUs }),
      ...(this.#startAtUs === undefined ? {} : { startAtUs: this.#startAtUs }),
      ...(this.#referenceBytes === undefined ? {} : { referenceBytes: this.#referenceBytes }),
    };
  }

  restore(notes: Pick<RunNotes, 'order' | 'stopAtUs' | 'startAtUs' | 'referenceBytes'>): void {
    this.#stopReason = notes.order;
    this.#stopAtUs = notes.stopAtUs;
    this.#startAtUs = notes.startAtUs;
    this.#referenceBytes = notes.referenceBytes;
  }

  /** @param stopAtUs the common end, in µs of the coordinator's clock; absent: at once. */
  stop(reason: string, stopAtUs?: number): void {
    if (this.isStopped) return;
    this.#stopReason = reason.slice(0, MAX_REASON_LENGTH);
    this.#stopAtUs = stopAtUs;
  }

  /** The order for this shard, undefined while it has only to wait. */
  orderFor(progress: ShardProgress): CoordinatorMessage | undefined {
    const shard = progress.attempt;
    if (this.#stopReason !== undefined) {
      const stopAtUs = this.#stopAtUs;
      return {
        kind: 'stop',
        shard,
        reason: this.#stopReason,
        ...(stopAtUs === undefined ? {} : { stopAtUs }),
      };
    }
    if (this.#startAtUs !== undefined) {
      const { startSlice, fromMs, hasBegun } = progress;
      // The slice of a rest is known before it is said when in it the load begins.
      if (startSlice === undefined || !hasBegun) return undefined;
      return {
        kind: 'start',
        shard,
        startAtUs: this.#startAtUs + startSlice * LIMITS.intervalMs * 1_000,
        ...(fromMs === undefined ? {} : { fromUs: this.#startAtUs + fromMs * 1_000 }),
        ...(this.#referenceBytes === undefined ? {} : { referenceBytes: this.#referenceBytes }),
      };
    }
    const isProbing = progress.shard.probe && this.#barrier.areAllReady;
    return isProbing ? { kind: 'probe', shard } : undefined;
  }
}
