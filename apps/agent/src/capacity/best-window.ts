/**
 * How long a measurement goes on, and what it comes to. A machine that does something else at the same moment (other
 * agents that start, say) makes requests dearer and never cheaper: caches are cold, replies come one by one instead of
 * in batches, and a slot looks for them in vain. So the best of several short windows counts, and there are more of
 * them as long as they become better. Pure.
 */

/** Windows that are taken in any case. */
const LEAST_WINDOWS = 5;
/** So many in a row that bring nothing better end it. */
const SETTLED_WINDOWS = 3;
/** Better by less is noise. */
const BETTER_BY = 1.02;

export class BestWindow {
  #windows = 0;
  #bestHz: number | undefined;
  #markHz = 0;
  #inVain = 0;

  /** The highest so far; undefined as long as none told anything. */
  get bestHz(): number | undefined {
    return this.#bestHz;
  }

  /** Whether another window would hardly change anything. */
  get isSettled(): boolean {
    return this.#bestHz !== undefined && this.#windows >= LEAST_WINDOWS && this.#inVain >= SETTLED_WINDOWS;
  }

  /** @param capacityHz of one window; undefined where it held too little. */
  add(capacityHz: number | undefined): void {
    this.#windows++;
    const isBetter = capacityHz !== undefined && capacityHz > this.#markHz * BETTER_BY;
    this.#inVain = isBetter ? 0 : this.#inVain + 1;
    if (capacityHz === undefined) return;
    if (isBetter) this.#markHz = capacityHz;
    this.#bestHz = Math.max(this.#bestHz ?? 0, capacityHz);
  }
}
