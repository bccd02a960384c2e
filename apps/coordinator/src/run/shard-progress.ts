import {
  addCounters,
  type Counters,
  counterOf,
  type Fatal,
  gaugeOf,
  type Interval,
  newCounters,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  type ShardTotals,
  shardAttemptKey,
} from '@broadside/shared';
import { IntervalCoverage } from '../interval/interval-coverage.js';
import type { ShardChange } from './run.repository.js';

/** What the coordinator knows of one attempt at a shard. */
export class ShardProgress {
  readonly shard: Shard;
  readonly key: string;
  readonly agentId: string;
  readonly agentName: string;
  /** What is committed in the store; the agent may forget these intervals. */
  readonly stored = new IntervalCoverage();
  /** Sum of what was counted of it, without its warm-up. */
  readonly counted: Counters = newCounters();
  /** Most requests that it sent in one slice. */
  mostPerSlice = 0;
  /** Largest busy share of its engine thread in what was counted, 0 … 1. */
  busyShareMax = 0;
  /** One more than the last slice that was counted. */
  coveredSlices = 0;
  /** Its last interval, once that was counted. */
  last: Pick<Interval, 'counters' | 'number' | 'span'> | undefined;
  /** Slice of the run in which it begins; undefined while that is not named. */
  startSlice: number | undefined;
  /** Run time at which its load begins, where that is not with the slice. */
  fromMs: number | undefined;
  /** It was given its start instant. */
  hasBegun = false;
  /** Of those that were handed to the queue together: 0 for the first attempts. */
  readonly group: number;
  /** Its agent has said that a slot holds it. */
  isReady = false;
  /** Nothing that still comes of it counts. */
  isFenced = false;
  /** It was taken back before any slot held it, or its agent could not prepare it. */
  didNothing = false;
  result: ShardResult | undefined;
  totals: ShardTotals | undefined;
  /** The totals as they came. */
  totalsFrame: Uint8Array | undefined;
  fatal: Fatal | undefined;
  /** Why there is no result. */
  failure: string | undefined;

  constructor(shard: Shard, agentId: string, agentName: string, group = 0) {
    this.shard = shard;
    this.group = group;
    // The first attempts begin with the run; later ones when somebody can take them up.
    this.startSlice = shard.attempt === 1 ? 0 : undefined;
    this.key = shardAttemptKey(shard);
    this.agentId = agentId;
    this.agentName = agentName;
  }

  get attempt(): ShardAttempt {
    const { runId, shardIndex, attempt } = this.shard;
    return { runId, shardIndex, attempt };
  }

  /** Adds up an interval that is new. */
  count(interval: Interval): void {
    this.coveredSlices = Math.max(this.coveredSlices, interval.number + interval.span);
    const { counters, number, span } = interval;
    // The arrays of a decoded interval are written over by the next one.
    if (interval.isLast) this.last = { counters: counters.slice(), number, span };
    const sent = counterOf(counters, 'sent');
    this.mostPerSlice = Math.max(this.mostPerSlice, Math.ceil(sent / interval.span));
    if (interval.isWarmup === true) return;
    addCounters(this.counted, interval.counters);
    this.busyShareMax = Math.max(this.busyShareMax, gaugeOf(interval, 'busyShare'));
  }

  /** Its result is here, or will never be. */
  get hasEnded(): boolean {
    return this.isFenced || this.didNothing || this.totals !== undefined || this.failure !== undefined;
  }

  /** What is stored of it. */
  get change(): ShardChange {
    const { startSlice, totalsFrame: totals, fatal } = this;
    return { state: this.#state, startSlice, totals, fatal };
  }

  get #state(): ShardChange['state'] {
    if (this.didNothing) return 'unused';
    if (this.isFenced) return 'fenced';
    if (this.totals !== undefined) return 'finished';
    return this.failure === undefined ? 'assigned' : 'failed';
  }

  /** How reports call it. */
  get name(): string {
    return `shard ${this.shard.shardIndex} (attempt ${this.shard.attempt}, agent ${this.agentName})`;
  }
}

/** Shards that one sentence names. */
const MAX_NAMED_SHARDS = 3;

/** The first few by name, and how many more there are. */
export function namesOf(shards: readonly ShardProgress[]): string {
  const names = shards.slice(0, MAX_NAMED_SHARDS).map((progress) => progress.name);
  const more = shards.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
