import { LIMITS } from '@broadside/shared';

/** What became of an interval that arrived: only `new` ones may be counted. */
export type Arrival = 'new' | 'duplicate' | 'overlap' | 'too-far';

interface Slice {
  readonly number: number;
  readonly span: number;
  readonly isLast?: boolean;
}

/** An agent keeps at most so many intervals unacknowledged, so none can be further ahead than this. */
const MAX_AHEAD = LIMITS.maxOutboxIntervals * 2;

/**
 * Which interval numbers of one shard attempt have arrived. Takes constant memory: a contiguous part, and the
 * few numbers that came ahead of a gap. Pure.
 */
export class IntervalCoverage {
  /** First number that is missing. */
  #next = 0;
  /** Slices beyond a gap: first number to span. */
  readonly #ahead = new Map<number, number>();
  #end: number | undefined;

  /** Number of the first interval that has not arrived; all before it have. */
  get next(): number {
    return this.#next;
  }

  /** Every interval is here, the last one included. */
  get isComplete(): boolean {
    return this.#end !== undefined && this.#next >= this.#end;
  }

  accept(slice: Slice): Arrival {
    const arrival = this.#classify(slice);
    if (arrival !== 'new') return arrival;
    if (slice.isLast === true) this.#end = slice.number + slice.span;
    this.#ahead.set(slice.number, slice.span);
    for (;;) {
      const span = this.#ahead.get(this.#next);
      if (span === undefined) return 'new';
      this.#ahead.delete(this.#next);
      this.#next += span;
    }
  }

  #classify(slice: Slice): Arrival {
    const end = slice.number + slice.span;
    if (end <= this.#next) return 'duplicate';
    if (slice.number < this.#next) return 'overlap';
    if (end > this.#next + MAX_AHEAD) return 'too-far';
    if (this.#ahead.get(slice.number) === slice.span) return 'duplicate';
    for (const [number, span] of this.#ahead) {
      if (slice.number < number + span && number < end) return 'overlap';
    }
    return 'new';
  }
}
