import {
  BUCKET_COUNT,
  bucketIndexOf,
  HIGHEST_VALUE_US,
  type SparseHistogram,
  sparseOf,
} from '@broadside/shared/engine';

const MIN = 0;
const MAX = 1;
const SUM = 2;
const SQUARES = 3;

/**
 * The histogram that the hot path writes to: 32-bit counts, which one interval cannot overflow, and exact
 * moments in an array of doubles, where changing them allocates nothing.
 */
export class LiveHistogram {
  readonly #counts = new Uint32Array(BUCKET_COUNT);
  readonly #moments = new Float64Array(4);
  /** The buckets in use, so that taking and clearing need not walk over all 23 552. */
  #lowest = BUCKET_COUNT;
  #highest = -1;

  constructor() {
    this.#clearMoments();
  }

  /** Records a value in µs: rounded, and clamped into the histogram's range. */
  record(valueUs: number): void {
    const value = valueUs > 0 ? Math.round(Math.min(valueUs, HIGHEST_VALUE_US)) : 0;
    const index = bucketIndexOf(value);
    const counts = this.#counts;
    counts[index] = (counts[index] ?? 0) + 1;
    if (index < this.#lowest) this.#lowest = index;
    if (index > this.#highest) this.#highest = index;
    const moments = this.#moments;
    if (value < (moments[MIN] ?? 0)) moments[MIN] = value;
    if (value > (moments[MAX] ?? 0)) moments[MAX] = value;
    moments[SUM] = (moments[SUM] ?? 0) + value;
    moments[SQUARES] = (moments[SQUARES] ?? 0) + value * value;
  }

  /** What was recorded since the last call, as a copy; the histogram is empty afterwards. */
  take(): SparseHistogram {
    const lowest = Math.min(this.#lowest, this.#highest + 1);
    const used = this.#counts.subarray(lowest, this.#highest + 1);
    const moments = this.#moments;
    const sparse = sparseOf(used, {
      minUs: moments[MIN] ?? 0,
      maxUs: moments[MAX] ?? 0,
      sumUs: moments[SUM] ?? 0,
      sumOfSquaresUs2: moments[SQUARES] ?? 0,
    });
    for (let i = 0; i < sparse.indexes.length; i++) sparse.indexes[i] = (sparse.indexes[i] ?? 0) + lowest;
    used.fill(0);
    this.#lowest = BUCKET_COUNT;
    this.#highest = -1;
    this.#clearMoments();
    return sparse;
  }

  #clearMoments(): void {
    this.#moments[MIN] = Number.POSITIVE_INFINITY;
    this.#moments[MAX] = -1;
    this.#moments[SUM] = 0;
    this.#moments[SQUARES] = 0;
  }
}
