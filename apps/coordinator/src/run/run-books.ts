/**
 * What a run's intervals add up to, from their arrival to the store: counted once, stored, acknowledged, and
 * shown to watchers second by second. Also the list of what went wrong with them.
 */
import {
  type CoordinatorMessage,
  closingInterval,
  encodeInterval,
  generatorWarningOf,
  type Interval,
  type LiveMessage,
  type RunTotals,
  type Second,
  ShardSum,
} from '@broadside/shared';
import type { StoredFrame } from '../interval/interval.repository.js';
import { IntervalMerger } from '../interval/interval-merger.js';
import type { ShardProgress } from './shard-progress.js';

export interface RunBooksOptions {
  readonly runId: string;
  readonly shardCount: number;
  readonly expectedSeconds: number | undefined;
  /** Resolves when the frame is committed. */
  readonly write: (frame: StoredFrame) => Promise<void>;
  readonly send: (agentId: string, message: CoordinatorMessage) => void;
  readonly publish: (message: LiveMessage) => void;
  /** A frame was committed, or could not be. */
  readonly onSettled: () => void;
}

/** Problems that are kept; a run in which everything is wrong needs no more. */
const MAX_PROBLEMS = 100;

export class RunBooks {
  readonly #options: RunBooksOptions;
  readonly #merger: IntervalMerger;
  readonly #problems: string[] = [];
  readonly #closedTotal = { planned: 0, completed: 0, failed: 0 };
  /** Each ends when its frame, which is of this attempt, is committed or could not be; none rejects. */
  readonly #writes = new Map<Promise<void>, ShardProgress>();

  constructor(options: RunBooksOptions) {
    this.#options = options;
    const { shardCount, expectedSeconds } = options;
    this.#merger = new IntervalMerger({ shardCount, expectedSeconds });
  }

  get totals(): RunTotals {
    return this.#merger.totals;
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Rows for the report. */
  get seconds(): readonly Second[] {
    return this.#merger.seconds();
  }

  /** Everything that arrived is committed. */
  get isSettled(): boolean {
    return this.#writes.size === 0;
  }

  /** Everything that has arrived so far is committed, or a problem says that it could not be. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes.keys());
  }

  /** Of one attempt: frames of others may arrive all the time. */
  #writesOf(progress: ShardProgress): Promise<void>[] {
    return [...this.#writes].flatMap(([write, of]) => (of === progress ? [write] : []));
  }

  /** Seconds that are closed already were shown by an earlier coordinator. */
  passOverClosed(): void {
    for (const second of this.#merger.takeClosed()) this.#addToTotal(second);
  }

  /**
   * Counts what the totals of an attempt hold beyond the intervals that came, as one interval: of an agent that
   * ended its shard and was lost before it had delivered everything.
   * @param read gives the stored intervals of the attempt, in order.
   * @returns the interval; undefined when everything has come after all.
   * @throws Error when it cannot be made.
   */
  async closeByTotals(
    progress: ShardProgress,
    read: () => AsyncIterable<Interval>,
  ): Promise<Interval | undefined> {
    for (;;) {
      if (this.isDelivered(progress)) return undefined;
      const counted = progress.coveredSlices;
      await Promise.all(this.#writesOf(progress));
      const stored = new ShardSum();
      for await (const interval of read()) stored.add(interval);
      // More may have come meanwhile.
      if (counted !== progress.coveredSlices || this.#writesOf(progress).length > 0) continue;
      const { totals } = progress;
      const closing = totals === undefined ? undefined : closingInterval(totals, stored);
      if (closing === undefined) throw new Error('its totals do not follow from its intervals');
      this.take(progress, closing, encodeInterval(closing));
      return closing;
    }
  }

  note(problem: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }

  /** @returns true when the interval is new; only then it was counted. */
  take(progress: ShardProgress, interval: Interval, frame: Uint8Array): boolean {
    const arrival = this.#merger.accept(interval);
    if (arrival === 'duplicate') this.acknowledge(progress);
    else if (arrival !== 'new') {
      this.note(`${progress.name}: interval ${interval.number} is out of order (${arrival})`);
    }
    if (arrival !== 'new') return false;
    progress.count(interval);
    this.#store(progress, interval, frame);
    this.#showSeconds();
    return true;
  }

  /** A further attempt at a shard: its intervals count from its start slice on. */
  open(progress: ShardProgress): void {
    this.#merger.open(progress.shard, progress.startSlice ?? 0);
  }

  /** Takes up what an earlier coordinator had stored already. */
  restore(progress: ShardProgress, interval: Interval): void {
    const { number, span, isLast } = interval;
    const arrival = this.#merger.accept(interval);
    if (arrival !== 'new') {
      this.note(`${progress.name}: stored interval ${number} is out of order (${arrival})`);
      return;
    }
    progress.count(interval);
    progress.stored.accept({ number, span, isLast });
  }

  /** Nothing more will come of the attempt, so that seconds no longer wait for it. */
  end(progress: ShardProgress): void {
    this.#merger.end(progress.shard.shardIndex, progress.shard.attempt);
    this.#showSeconds();
  }

  /** Every interval of the shard is here, or none was to come. */
  isDelivered(progress: ShardProgress): boolean {
    const { shardIndex, attempt } = progress.shard;
    return this.#merger.isComplete(shardIndex, attempt) || progress.totals?.intervals === 0;
  }

  /** Tells the agent what it may forget. */
  acknowledge(progress: ShardProgress): void {
    const number = progress.stored.next - 1;
    if (number < 0) return;
    this.#options.send(progress.agentId, { kind: 'ack', shard: progress.attempt, number });
  }

  #store(progress: ShardProgress, interval: Interval, frame: Uint8Array): void {
    const { number, span, isLast } = interval;
    const write = this.#options
      .write({ ...progress.attempt, number, frame })
      .then(
        () => {
          progress.stored.accept({ number, span, isLast });
          this.acknowledge(progress);
        },
        () => this.note(`${progress.name}: interval ${number} could not be stored`),
      )
      .finally(() => {
        this.#writes.delete(write);
        this.#options.onSettled();
      });
    this.#writes.set(write, progress);
  }

  #showSeconds(): void {
    const { runId, publish } = this.#options;
    for (const second of this.#merger.takeClosed()) {
      if (second.isWarmup !== true) {
        this.#closedTotal.planned += second.planned;
        this.#closedTotal.completed += second.completed;
        this.#closedTotal.failed += second.failed;
      }
      const generatorWarning = generatorWarningOf(second);
      const warning = generatorWarning === undefined ? {} : { generatorWarning };
      publish({ kind: 'second', runId, second, total: { ...this.#closedTotal }, ...warning });
    }
  }

  #addToTotal(second: Second): void {
    if (second.isWarmup === true) return;
    this.#closedTotal.planned += second.planned;
    this.#closedTotal.completed += second.completed;
    this.#closedTotal.failed += second.failed;
  }
}
