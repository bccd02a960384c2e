import { COUNTER_NAMES } from '../metrics/counters.js';
import { GAUGE_NAMES } from '../metrics/interval.js';

/** The arrays that one decoded frame fills: all its buckets lie one behind the other in one block. */
export class ObservationArrays {
  readonly counters = new Float64Array(COUNTER_NAMES.length);
  readonly gauges = new Float64Array(GAUGE_NAMES.length);
  #indexes = new Uint16Array(0);
  #counts = new Float64Array(0);
  #used = 0;

  /** Everything that was handed out may be written over. */
  reuse(): void {
    this.#used = 0;
  }

  /**
   * Room for the buckets of one more histogram.
   * @param remainingBytes of the frame: a bucket takes at least two, so this bounds what may still be asked for.
   */
  buckets(size: number, remainingBytes: number): { indexes: Uint16Array; counts: Float64Array } {
    const end = this.#used + size;
    if (end > this.#counts.length) {
      // What was handed out keeps the old block.
      const room = Math.max(Math.floor(remainingBytes / 2), size);
      this.#indexes = new Uint16Array(room);
      this.#counts = new Float64Array(room);
      this.#used = 0;
      return this.buckets(size, remainingBytes);
    }
    const indexes = this.#indexes.subarray(this.#used, end);
    const counts = this.#counts.subarray(this.#used, end);
    this.#used = end;
    return { indexes, counts };
  }
}
