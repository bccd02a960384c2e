import { formatCounted } from '@broadside/shared';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.js';
import type { StoredFrame } from './interval.repository.js';

export interface FrameSink {
  /** Waits for a store that is away; rejects when that takes too long. */
  append(frames: readonly StoredFrame[]): Promise<void>;
}

interface Pending {
  readonly frame: StoredFrame;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Of one statement. */
const MAX_BATCH_FRAMES = 500;
const MAX_BATCH_BYTES = 4 * 1_024 * 1_024;
/** So much is not kept back for the end of a burst: the store works on it while the rest is still being read. */
const EARLY_BYTES = 1_024 * 1_024;
/** Above this agents are not read any more, until half of it is stored. */
const MAX_PENDING_BYTES = 32 * 1_024 * 1_024;

/**
 * Stores frames in batches: while one statement is on its way, everything that arrives becomes the next. So
 * one agent waits for nothing and a thousand agents share a statement.
 */
export class IntervalWriter {
  readonly #sink: FrameSink;
  readonly #failures: FailureLog;
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #isFlushing = false;
  /** Present while the first batch of a burst is awaited. */
  #endBurst: (() => void) | undefined;
  #roomWaiters: (() => void)[] = [];

  constructor(sink: FrameSink, log: Logger) {
    this.#sink = sink;
    this.#failures = new FailureLog(log);
  }

  get isFull(): boolean {
    return this.#pendingBytes > MAX_PENDING_BYTES;
  }

  /** Resolves when there is room again, at once where there is. */
  whenRoom(): Promise<void> {
    if (!this.isFull) return Promise.resolve();
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Resolves when the frame is committed; rejects when the store cannot take it. */
  write(frame: StoredFrame): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ frame, resolve, reject });
      this.#pendingBytes += frame.frame.length;
      if (!this.#isFlushing) void this.#flush();
      if (this.#pendingBytes >= EARLY_BYTES) this.#endBurst?.();
    });
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    // What arrives in this turn of the event loop goes along.
    await new Promise<void>((resolve) => {
      this.#endBurst = resolve;
      setImmediate(resolve);
    });
    this.#endBurst = undefined;
    while (this.#pending.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#sink.append(batch.map((each) => each.frame));
        for (const each of batch) each.resolve();
      } catch (error) {
        this.#failures.error(error, `the store did not take ${formatCounted(batch.length, 'interval')}`);
        for (const each of batch) each.reject(error);
      }
      this.#freeRoom(batch);
    }
    this.#isFlushing = false;
  }

  #takeBatch(): Pending[] {
    let [count, bytes] = [0, 0];
    for (const { frame } of this.#pending) {
      bytes += frame.frame.length;
      if (count > 0 && (count >= MAX_BATCH_FRAMES || bytes > MAX_BATCH_BYTES)) break;
      count++;
    }
    return this.#pending.splice(0, count);
  }

  #freeRoom(batch: readonly Pending[]): void {
    for (const each of batch) this.#pendingBytes -= each.frame.frame.length;
    if (this.#pendingBytes > MAX_PENDING_BYTES / 2) return;
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
