/**
 * Merges the intervals of all shards of one run: totals at once, seconds as soon as every shard that is still
 * alive has delivered them, in order. Pure; its memory does not depend on the length of the run.
 */
import { type Interval, RunTotals, type Second } from '@broadside/shared';
import { type Arrival, IntervalCoverage } from './interval-coverage.js';
import { SecondSeries } from './second-series.js';
import { SecondSum } from './second-sum.js';

/**
 * Seconds that wait for a slow shard at most; then the oldest closes without it. What the shard delivers later
 * counts in the totals and in the oldest second that is still open: no count is lost, only its place in time.
 */
const MAX_OPEN_SECONDS = 30;

export interface IntervalMergerOptions {
  readonly shardCount: number;
  /** Length of the run in seconds where the plan says it. */
  readonly expectedSeconds?: number | undefined;
  readonly maxOpenSeconds?: number;
}

interface ShardPart {
  readonly coverage: IntervalCoverage;
  /** Nothing more will come of it: it delivered its last interval, or it is fenced. */
  isOver: boolean;
}

export class IntervalMerger {
  /** Sum of all intervals so far. */
  readonly totals = new RunTotals();
  readonly #shards: readonly ShardPart[];
  readonly #series: SecondSeries;
  readonly #maxOpenSeconds: number;
  /** Sums of the seconds that are not closed yet, by second. */
  readonly #open = new Map<number, SecondSum>();
  /** The first second that is not closed. */
  #nextSecond = 0;
  /** One more than the last second that anything was delivered for. */
  #endSecond = 0;

  constructor(options: IntervalMergerOptions) {
    this.#shards = Array.from({ length: options.shardCount }, () => ({
      coverage: new IntervalCoverage(),
      isOver: false,
    }));
    this.#series = new SecondSeries(options.expectedSeconds);
    this.#maxOpenSeconds = options.maxOpenSeconds ?? MAX_OPEN_SECONDS;
  }

  /** Takes an interval of any shard of the run. Anything but `new` changes nothing. */
  accept(interval: Interval): Arrival {
    const shard = this.#shard(interval.shardIndex);
    const arrival = shard.coverage.accept(interval);
    if (arrival !== 'new') return arrival;
    this.totals.addInterval(interval);
    // A merged interval counts in its last second: what ended in it had ended by then.
    const second = Math.max(interval.number + interval.span - 1, this.#nextSecond);
    this.#sumOf(second).add(interval);
    this.#endSecond = Math.max(this.#endSecond, second + 1);
    if (shard.coverage.isComplete) shard.isOver = true;
    return 'new';
  }

  /** Nothing more will come of this shard; its missing intervals no longer hold up the others. */
  end(shardIndex: number): void {
    this.#shard(shardIndex).isOver = true;
  }

  /** First interval number of the shard that has not arrived. */
  nextOf(shardIndex: number): number {
    return this.#shard(shardIndex).coverage.next;
  }

  /** All intervals of the shard have arrived, the last one marked. */
  isComplete(shardIndex: number): boolean {
    return this.#shard(shardIndex).coverage.isComplete;
  }

  /** The seconds that have closed since the last call, in order. */
  takeClosed(): Second[] {
    const closed: Second[] = [];
    for (;;) {
      const isTooLong = this.#endSecond - this.#nextSecond > this.#maxOpenSeconds;
      if (this.#nextSecond >= this.#endSecond) return closed;
      if (!isTooLong && !this.#hasAll(this.#nextSecond)) return closed;
      const second = this.#nextSecond++;
      const sum = this.#open.get(second) ?? new SecondSum();
      this.#open.delete(second);
      closed.push(sum.toSecond(second));
      this.#series.push(second, sum);
    }
  }

  /** Rows for the report, of all closed seconds. */
  seconds(): Second[] {
    return this.#series.rows();
  }

  #hasAll(second: number): boolean {
    return this.#shards.every((shard) => shard.isOver || shard.coverage.next > second);
  }

  #sumOf(second: number): SecondSum {
    const existing = this.#open.get(second);
    if (existing !== undefined) return existing;
    const sum = new SecondSum();
    this.#open.set(second, sum);
    return sum;
  }

  #shard(shardIndex: number): ShardPart {
    const shard = this.#shards[shardIndex];
    if (shard === undefined) throw new RangeError(`no shard ${shardIndex}`);
    return shard;
  }
}
