import type { Interval } from '../metrics/interval.js';
import { RunTotals } from './run-totals.js';

/** Gaps and doubles that are spelled out. */
const MAX_PROBLEMS = 100;

/**
 * What the intervals of one shard attempt add up to, and whether their numbers have gaps. Takes them one by one in
 * the order of their numbers, so that its memory does not depend on how many there are.
 */
export class ShardSum {
  readonly totals = new RunTotals();
  readonly #problems: string[] = [];
  #next = 0;
  #hasLast = false;
  #count = 0;

  /** @param intervals in any order. */
  static of(intervals: Iterable<Interval>): ShardSum {
    const sum = new ShardSum();
    for (const interval of [...intervals].sort((a, b) => a.number - b.number)) sum.add(interval);
    return sum;
  }

  add(interval: Interval): void {
    const { number, span, isLast } = interval;
    if (number > this.#next) this.#note(`${intervalNames(this.#next, number - 1)} missing`);
    if (number < this.#next) this.#note(`interval ${number} came twice`);
    this.#next = Math.max(this.#next, number + span);
    this.#hasLast = isLast;
    this.#count++;
    this.totals.addInterval(interval);
  }

  /** The number that would follow. */
  get next(): number {
    return this.#next;
  }

  /** The last one is marked as the last. */
  get hasLast(): boolean {
    return this.#hasLast;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Gaps and doubles, one sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  #note(problem: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }
}

/** Numbers of intervals as the subject of a sentence. */
export function intervalNames(first: number, last: number): string {
  return first === last ? `interval ${first} is` : `intervals ${first} to ${last} are`;
}
