/**
 * Merges the intervals of all shards of one run: totals at once, seconds as soon as every shard that is still
 * alive has delivered them, in order. Pure; its memory does not depend on the length of the run.
 */
import { type Interval, LIMITS, RunTotals, type Second, shiftInterval } from '@broadside/shared';
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

/** One attempt at a shard. */
interface AttemptPart {
  readonly coverage: IntervalCoverage;
  /** Slice of the run in which its own slice 0 lies. */
  startSlice: number;
  /** Nothing more will come of it: it delivered its last interval, or it is fenced. */
  isOver: boolean;
}

type AttemptName = Pick<Interval, 'shardIndex' | 'attempt'>;

export class IntervalMerger {
  /** Sum of all intervals so far. */
  readonly totals = new RunTotals();
  /** For each shard its attempts, by their number. */
  readonly #shards: readonly Map<number, AttemptPart>[];
  readonly #series: SecondSeries;
  readonly #maxOpenSeconds: number;
  /** Sums of the seconds that are not closed yet, by second. */
  readonly #open = new Map<number, SecondSum>();
  /** The first second that is not closed. */
  #nextSecond = 0;
  /** The attempts that it waits for. Kept, because to look at all of them for each interval is too much. */
  readonly #late = new Set<AttemptPart>();
  /** One more than the last second that anything was delivered for. */
  #endSecond = 0;

  constructor(options: IntervalMergerOptions) {
    this.#shards = Array.from({ length: options.shardCount }, () => new Map([[1, newPart()]]));
    this.#findLate();
    this.#series = new SecondSeries(options.expectedSeconds);
    this.#maxOpenSeconds = options.maxOpenSeconds ?? MAX_OPEN_SECONDS;
  }

  /** A further attempt at a shard; seconds wait for it from `startSlice` on. */
  open({ shardIndex, attempt }: AttemptName, startSlice: number): void {
    const attempts = this.#shard(shardIndex);
    const part = attempts.get(attempt) ?? newPart();
    part.startSlice = startSlice;
    attempts.set(attempt, part);
    this.#noteProgress(part);
  }

  /** Takes an interval of any attempt at any shard of the run. Anything but `new` changes nothing. */
  accept(interval: Interval): Arrival {
    const part = this.#part(interval);
    const arrival = part.coverage.accept(interval);
    if (arrival !== 'new') return arrival;
    const placed = shiftInterval(interval, part.startSlice, LIMITS.intervalMs);
    this.totals.addInterval(placed);
    // A merged interval counts in its last second: what ended in it had ended by then.
    const second = Math.max(placed.number + placed.span - 1, this.#nextSecond);
    this.#sumOf(second).add(placed);
    this.#endSecond = Math.max(this.#endSecond, second + 1);
    if (part.coverage.isComplete) part.isOver = true;
    this.#noteProgress(part);
    return 'new';
  }

  /** Nothing more will come of this attempt; its missing intervals no longer hold up the others. */
  end(shardIndex: number, attempt = 1): void {
    const part = this.#shard(shardIndex).get(attempt);
    if (part === undefined) return;
    part.isOver = true;
    this.#noteProgress(part);
  }

  /** First interval number of the attempt that has not arrived. */
  nextOf(shardIndex: number, attempt = 1): number {
    return this.#part({ shardIndex, attempt }).coverage.next;
  }

  /** All intervals of the attempt have arrived, the last one marked. */
  isComplete(shardIndex: number, attempt = 1): boolean {
    return this.#shard(shardIndex).get(attempt)?.coverage.isComplete ?? false;
  }

  /** The seconds that have closed since the last call, in order. */
  takeClosed(): Second[] {
    const closed: Second[] = [];
    for (;;) {
      const isTooLong = this.#endSecond - this.#nextSecond > this.#maxOpenSeconds;
      if (this.#nextSecond >= this.#endSecond) return closed;
      if (!isTooLong && this.#late.size > 0) return closed;
      const second = this.#nextSecond++;
      this.#findLate();
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

  #findLate(): void {
    this.#late.clear();
    for (const attempts of this.#shards) for (const part of attempts.values()) this.#noteProgress(part);
  }

  /** To be called whenever a part has changed: does the next second still wait for it? */
  #noteProgress(part: AttemptPart): void {
    if (part.isOver || part.startSlice + part.coverage.next > this.#nextSecond) this.#late.delete(part);
    else this.#late.add(part);
  }

  #sumOf(second: number): SecondSum {
    const existing = this.#open.get(second);
    if (existing !== undefined) return existing;
    const sum = new SecondSum();
    this.#open.set(second, sum);
    return sum;
  }

  #part({ shardIndex, attempt }: AttemptName): AttemptPart {
    const part = this.#shard(shardIndex).get(attempt);
    if (part === undefined) throw new RangeError(`no attempt ${attempt} at shard ${shardIndex}`);
    return part;
  }

  #shard(shardIndex: number): Map<number, AttemptPart> {
    const shard = this.#shards[shardIndex];
    if (shard === undefined) throw new RangeError(`no shard ${shardIndex}`);
    return shard;
  }
}

function newPart(): AttemptPart {
  return { coverage: new IntervalCoverage(), startSlice: 0, isOver: false };
}
