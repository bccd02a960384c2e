import { RandomBits } from './random-bits.js';
import type { RateCurve, Schedule } from './schedule.js';

/**
 * Arrivals as many independent users cause them: the gaps are exponentially distributed. Every shard goes through
 * the whole sequence and sends its own numbers, so that a seed gives the same run on any number of shards; a
 * number that is passed over costs about 20 ns. With a rate that changes, the same gaps are stretched by it.
 */
export class PoissonArrivals implements Schedule {
  readonly #curve: RateCurve;
  readonly #seed: number;
  #random: RandomBits;
  /** Number of the last arrival that was drawn, and how many requests were due by then on average. */
  #last = -1;
  #requests = 0;

  constructor(curve: RateCurve, seed: number) {
    this.#curve = curve;
    this.#seed = seed;
    this.#random = new RandomBits(seed);
  }

  plannedUs(index: number): number {
    if (index < this.#last) {
      this.#random = new RandomBits(this.#seed);
      this.#last = -1;
      this.#requests = 0;
    }
    const random = this.#random;
    for (; this.#last < index; this.#last++) {
      // Half a step off the whole numbers: neither 0, which has no logarithm, nor 1, which makes no gap.
      this.#requests -= Math.log((random.next() + 0.5) / 4_294_967_296);
    }
    return this.#curve.timeOfUs(this.#requests);
  }
}
