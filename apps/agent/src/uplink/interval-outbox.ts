import { decodeInterval, encodeInterval, LIMITS, mergeNeighbours } from '@broadside/shared';
import type { IntervalFrame } from '../slot/thread-message.js';

export interface OutboxLimits {
  /** Most frames kept; beyond that neighbours are merged. At least 4. */
  readonly maxFrames: number;
  /** Most frames that may be on their way without an acknowledgement; at most half of `maxFrames`. */
  readonly maxUnacknowledged: number;
}

const DEFAULT_LIMITS: OutboxLimits = {
  maxFrames: LIMITS.maxOutboxIntervals,
  maxUnacknowledged: LIMITS.maxUnacknowledgedIntervals,
};

/**
 * The frames of one shard attempt, in order, until the coordinator says that they are stored. Pure.
 *
 *   sent before, perhaps stored   │ never sent
 *   [0] [1] [2] … ────────────────┼──── [n] [n+1] …
 *            ▲ cursor (back at 0 after a reconnect)
 *
 * A frame that was sent once is never merged: the coordinator may have stored it while the acknowledgement got
 * lost, and a merged frame with the same first number would be taken for a duplicate. Since at most half of the
 * room may be sent and unacknowledged, an overflow always finds three neighbours that were never sent, and two of
 * them on the same side of the end of the warm-up.
 */
export class IntervalOutbox {
  readonly #limits: OutboxLimits;
  readonly #frames: IntervalFrame[] = [];
  /** How many of the frames in front were sent at least once, on whatever connection. */
  #everSent = 0;
  /** Position of the next frame to send on this connection. */
  #cursor = 0;
  #mergedCount = 0;
  #bytes = 0;

  constructor(limits: OutboxLimits = DEFAULT_LIMITS) {
    if (limits.maxFrames < 4 || limits.maxUnacknowledged * 2 > limits.maxFrames) {
      throw new RangeError('an outbox needs room for 4 frames and twice its unacknowledged ones');
    }
    this.#limits = limits;
  }

  get size(): number {
    return this.#frames.length;
  }

  /** Of all frames that are kept. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /** How often two frames became one because the outbox, or all of them together, ran over. */
  get mergedCount(): number {
    return this.#mergedCount;
  }

  /** Appends the next frame; on overflow time gets coarser, counts stay. */
  add(frame: IntervalFrame): void {
    this.#frames.push(frame);
    this.#bytes += frame.bytes.length;
    if (this.#frames.length > this.#limits.maxFrames && !this.merge()) {
      throw new Error('an outbox without mergeable frames');
    }
  }

  /** Forgets every frame that begins at or before `number`: the coordinator has stored it. */
  acknowledge(number: number): void {
    let count = 0;
    // Only what was sent can be stored; an acknowledgement beyond that is not believed.
    while (count < this.#everSent && (this.#frames[count]?.number ?? Number.POSITIVE_INFINITY) <= number) {
      count++;
    }
    for (const { bytes } of this.#frames.splice(0, count)) this.#bytes -= bytes.length;
    this.#everSent -= count;
    this.#cursor = Math.max(this.#cursor - count, 0);
  }

  /** The next frame to send, or undefined when all are sent or too many wait for their acknowledgement. */
  peek(): Uint8Array | undefined {
    const isNew = this.#cursor >= this.#everSent;
    if (isNew && this.#everSent >= this.#limits.maxUnacknowledged) return undefined;
    return this.#frames[this.#cursor]?.bytes;
  }

  /** Notes that the frame of `peek` went out. */
  markSent(): void {
    if (this.#cursor >= this.#frames.length) throw new Error('no frame was left to send');
    this.#cursor++;
    this.#everSent = Math.max(this.#everSent, this.#cursor);
  }

  /** After a reconnect everything that is not acknowledged goes out again, from the oldest on. */
  rewind(): void {
    this.#cursor = 0;
  }

  /**
   * Merges the two never-sent neighbours that cover least together, the oldest of equals: time gets coarser.
   * @returns false when there are none.
   */
  merge(): boolean {
    let best = -1;
    let bestSpan = Number.POSITIVE_INFINITY;
    for (let i = this.#everSent; i + 1 < this.#frames.length; i++) {
      const span = (this.#frames[i]?.span ?? 0) + (this.#frames[i + 1]?.span ?? 0);
      const isMixed = (this.#frames[i]?.isWarmup ?? false) !== (this.#frames[i + 1]?.isWarmup ?? false);
      if (span < bestSpan && !isMixed) {
        best = i;
        bestSpan = span;
      }
    }
    const earlier = this.#frames[best];
    const later = this.#frames[best + 1];
    if (earlier === undefined || later === undefined) return false;
    const merged = mergeNeighbours(decodeInterval(earlier.bytes), decodeInterval(later.bytes));
    const { number, span, isWarmup = false } = merged;
    const bytes = encodeInterval(merged);
    this.#frames.splice(best, 2, { number, span, isWarmup, bytes });
    this.#bytes += bytes.length - earlier.bytes.length - later.bytes.length;
    this.#mergedCount++;
    return true;
  }
}
