import { LIMITS, type Second } from '@broadside/shared';
import { foldSeconds, type SecondSum } from './second-sum.js';

/**
 * The seconds of the report: at most `maxSeconds` rows, however long the run. A longer run has rows of 2, 4,
 * 8 … seconds, each named after its first one. Pure.
 */
export class SecondSeries {
  readonly #maxSeconds: number;
  #rows: Second[] = [];
  /** Seconds per row. */
  #step = 1;
  #open: { readonly first: number; readonly sum: SecondSum } | undefined;

  /** @param expectedSeconds length of the run where the plan says it, so that rows never need folding. */
  constructor(expectedSeconds?: number, maxSeconds: number = LIMITS.maxReportSeconds) {
    this.#maxSeconds = maxSeconds;
    while (expectedSeconds !== undefined && expectedSeconds > this.#step * maxSeconds) this.#step *= 2;
  }

  /** Takes the next second, in order and without gaps; `sum` must not be changed afterwards. */
  push(second: number, sum: SecondSum): void {
    if (this.#open !== undefined && second >= this.#open.first + this.#step) this.#closeRow();
    if (this.#open === undefined) this.#open = { first: second, sum };
    else this.#open.sum.addFollowing(sum);
  }

  rows(): Second[] {
    return this.#open === undefined
      ? [...this.#rows]
      : [...this.#rows, this.#open.sum.toSecond(this.#open.first)];
  }

  #closeRow(): void {
    if (this.#open === undefined) return;
    this.#rows.push(this.#open.sum.toSecond(this.#open.first));
    this.#open = undefined;
    if (this.#rows.length < this.#maxSeconds) return;
    this.#step *= 2;
    this.#rows = foldPairs(this.#rows);
  }
}

function foldPairs(rows: readonly Second[]): Second[] {
  const folded: Second[] = [];
  for (let i = 0; i < rows.length; i += 2) {
    const [earlier, later] = [rows[i], rows[i + 1]];
    if (earlier === undefined) break;
    folded.push(later === undefined ? earlier : foldSeconds(earlier, later));
  }
  return folded;
}
